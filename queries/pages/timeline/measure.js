// Measuring: the sums of a time on some lanes. Slices that cross its borders count by the part inside, as SQL would clip them.
const sumsBox = document.getElementById('sums')
const isIn = (start, end, from, to) => start < to && end > from || start === end && start >= from && start < to

function union(intervals) {
  intervals.sort((one, other) => one[0] - other[0])
  let length = 0, reach = -Infinity
  for (const [start, end] of intervals) {
    length += Math.max(0, end - Math.max(start, reach))
    reach = Math.max(reach, end)
  }
  return length
}
const WORD = {stream: 'GPU work', 'GPU idle': 'GPU idle time', finding: 'places of findings', 'NVTX on GPU': 'NVTX ranges on the GPU', NVTX: 'NVTX ranges', phases: 'phases'}
// What the rows of a kind are grouped by. Work is grouped twice.
const BY = {
  stream: [['class', (lane, i) => classes[lane.name[i]] || names[lane.category[i]]], ['kernel or copy', (lane, i) => nameOf(lane, i)]],
  'GPU idle': [['cause', (lane, i) => names[lane.category[i]]]], 'critical path': [['part', (lane, i) => names[lane.category[i]]], ['name', (lane, i) => nameOf(lane, i)]],
  finding: [['finding', (lane, i) => names[lane.category[i]]]], 'thread state': [['state', (lane, i) => names[lane.category[i]]]],
}
function sumKind(kind, own, from, to) {
  const groupings = (BY[kind] || [['name', (lane, i) => nameOf(lane, i)]]).map(([word, of]) => ({word, of, rows: new Map()}))
  const places = new Map()
  const cut = new Set()
  let slices = 0, total = 0, left = 0
  for (const lane of own) {
    left += lane.left
    if (lane.left > 0) cut.add(lane.report)
    const place = reportText(lane) + (lane.gpu !== null ? 'GPU ' + lane.gpu : 'thread ' + lane.tid)
    if (!places.has(place)) places.set(place, [])
    const intervals = places.get(place), end = above(lane.start, to)
    for (let i = above(lane.reach, from - 1); i < end; i++) {
      const start = lane.start[i], stop = start + lane.dur[i]
      if (!isIn(start, stop, from, to)) continue
      const inside = Math.min(stop, to) - Math.max(start, from)
      slices++
      total += inside
      intervals.push([Math.max(start, from), Math.min(stop, to)])
      for (const grouping of groupings) {
        const name = grouping.of(lane, i), row = grouping.rows.get(name)
        if (row === undefined) grouping.rows.set(name, {count: 1, ns: inside, most: inside})
        else {
          row.count++
          row.ns += inside
          row.most = Math.max(row.most, inside)
        }
      }
    }
  }
  const busy = [...places].map(([place, intervals]) => ({place, ns: union(intervals)}))
  return {kind, slices, total, left, cut, busy, groupings}
}

const ORDER = ['stream', 'GPU idle', 'critical path', 'finding', 'NVTX on GPU', 'NVTX', 'CUDA API', 'OS calls', 'thread state', 'steps', 'phases']
const ROWS = 200
function numberCell(text, ns) {
  const cell = make('td', 'n', text)
  if (ns !== undefined) cell.title = exact(ns)
  return cell
}
// A long name is cut after some lines; what points at it shows the whole.
function nameCell(text) {
  const cell = make('td', 'name', make('div', '', text))
  if (text.length > 60) cell.title = text
  return cell
}
function table(sum, grouping) {
  const rows = [...grouping.rows].sort((one, other) => other[1].ns - one[1].ns || (one[0] < other[0] ? -1 : 1))
  const body = make('tbody')
  for (const [name, row] of rows.slice(0, ROWS)) {
    const line = make('tr', '', nameCell(name || '(no name)'), numberCell(time(row.ns), row.ns), numberCell(share(row.ns, sum.total)), numberCell(count(row.count)), numberCell(time(row.ns / row.count)), numberCell(time(row.most), row.most))
    Object.assign(line.dataset, {kind: sum.kind, by: grouping.word, name: name || '', ns: row.ns, count: row.count})
    if (grouping.word !== 'class' && grouping.word !== 'part' && sum.kind !== 'GPU idle' && sum.kind !== 'thread state') {
      line.tabIndex = 0
      line.title = 'Search for it'
      line.addEventListener('click', () => searchFor(name))
    }
    body.append(line)
  }
  const head = make('thead', '', make('tr', '', ...[grouping.word, 'time', 'share', 'count', 'mean', 'longest'].map((word, at) => make('th', at === 0 ? '' : 'n', word))))
  const box = make('div', 'scroll', make('table', '', head, body))
  if (rows.length > ROWS) box.append(make('p', 'dim', count(rows.length - ROWS) + ' more rows are in what is copied.'))
  return box
}
// The sums as text for a spreadsheet.
function asText(sums) {
  const lines = ['kind\tby\tname\tns\tcount']
  for (const sum of sums) for (const grouping of sum.groupings) for (const [name, row] of grouping.rows) lines.push([sum.kind, grouping.word, (name || '').replace(/[\t\n]/g, ' '), row.ns, row.count].join('\t'))
  return lines.join('\n') + '\n'
}

function measure(from, to, own) {
  measured = {from: Math.round(from), to: Math.round(to), lanes: new Set(own)}
  const {from: start, to: end} = measured
  const shown = own.filter(lane => !isCounter(lane))
  const sums = ORDER.map(kind => sumKind(kind, shown.filter(lane => lane.kind === kind), start, end)).filter(sum => sum.slices > 0)
  const tools = make('span', 'tools', button('zoom', 'Zoom to it (f)', () => show(start, end)), button('clear', 'Measure nothing (Escape)', unmeasure))
  if (navigator.clipboard) tools.append(button('copy', 'Copy all sums as a table', () => navigator.clipboard.writeText(asText(sums)).catch(() => {})))
  const title = make('p', 'title', make('b', '', time(end - start)), ' from ' + exact(start) + ' to ' + exact(end) + ', ' + count(own.length) + (own.length === 1 ? ' lane' : ' lanes'), tools)
  sumsBox.replaceChildren(title)
  for (const sum of sums) {
    const line = make('p', 'sum', make('b', '', WORD[sum.kind] || sum.kind), ': ' + count(sum.slices) + (sum.slices === 1 ? ' slice' : ' slices') + ', ' + time(sum.total) + ' in all; busy: ')
    line.append(sum.busy.slice(0, 16).map(busy => busy.place + ' ' + time(busy.ns) + ' (' + share(busy.ns, end - start) + ')').join(', ') + (sum.busy.length > 16 ? ', …' : ''))
    Object.assign(line.dataset, {kind: sum.kind, ns: sum.total, count: sum.slices, busy: JSON.stringify(sum.busy)})
    sumsBox.append(line)
    if (sum.left > 0 && sum.kind !== 'finding') {
      const note = make('p', 'dim', 'These lanes leave out ' + count(sum.left) + ' of their slices, so sums are too low. For exact sums: ')
      for (const report of sum.cut) note.append(note.childElementCount > 0 ? ' ' : '', command('timeline', report.given, '--time', timeOption(report, start, end), '-o', 'part.html'))
      sumsBox.append(note)
    }
    sumsBox.append(make('div', 'tables', ...sum.groupings.map(grouping => table(sum, grouping))))
  }
  for (const lane of own) if (isCounter(lane)) sumsBox.append(make('p', 'sum', make('b', '', laneTitle(lane)), ': ' + meanOf(lane, start, end)))
  if (sums.length === 0 && shown.length > 0) sumsBox.append(make('p', 'dim', 'Nothing ran there on these lanes.'))
  openTab('sums')
  fitPanel()
  said.textContent = 'measured ' + time(end - start)
  remember()
  ask()
}
// The mean of a counter over a time, weighted by the time of each of its pieces.
function meanOf(lane, from, to) {
  let sum = 0, length = 0
  const size = lane.at ? lane.at.length : lane.values.length
  for (let i = 0; i < size; i++) {
    const start = lane.at ? lane.at[i] : lane.from + i * lane.length, end = lane.at ? lane.at[i + 1] ?? Infinity : start + lane.length
    const inside = Math.min(end, to) - Math.max(start, from)
    if (inside <= 0 || lane.values[i] === null) continue
    sum += lane.values[i] * inside
    length += inside
  }
  return length === 0 ? 'not sampled' : 'mean ' + valueText(lane, sum / length)
}
const valueText = (lane, value) => lane.unit === 'bytes' ? scaled(Math.round(value)) : Number(value.toPrecision(4)).toLocaleString('en-US') + (lane.unit === null ? '' : ' ' + (lane.unit === 'percent' ? '%' : lane.unit))

function unmeasure() {
  measured = null
  sumsBox.replaceChildren(make('p', 'dim', 'Drag over lanes to sum them, or over the axis to sum all lanes. m measures the selected slice.'))
  fitPanel()
  remember()
  ask()
}
function measureSelected() {
  if (selected === null) return
  const {lane, i} = selected
  measure(lane.start[i], lane.start[i] + Math.max(lane.dur[i], 1), lanes)
}

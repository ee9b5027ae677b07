// What is selected: its launch, the lanes around it, and the address that leads back to it.
function callOf(lane, i) {
  if (lane.call.length === 0 || lane.call[CALL * i + 1] < 0) return null
  const at = CALL * i, {report} = lane, own = lane.ownStart[i] - lane.call[at], start = onPage(report, own)
  return {
    start, dur: onPage(report, own + lane.call[at + 1]) - start, name: names[lane.call[at + 2]], lane: laneOf.get(report.prefix + lane.call[at + 3]) || null,
    tid: lane.call[at + 4], range: lane.call[at + 5] === 0 ? null : names[lane.call[at + 5]],
  }
}

// Lines from launch calls to operations: of an operation, its call; of a call, the operations in the page that it launched.
let linked = null, knownLinks = []
function links(lane, i) {
  if (linked !== null && linked.lane === lane && linked.i === i) return knownLinks
  linked = {lane, i}
  knownLinks = []
  const call = callOf(lane, i)
  if (call !== null && call.lane !== null) {
    knownLinks.push({from: call.start, fromLane: call.lane, to: lane.start[i], toLane: lane})
  } else if (lane.kind === 'CUDA API') {
    const id = lane.number
    for (const other of lanes) if (other.kind === 'stream' && other.report === lane.report) for (let at = 0; at < other.start.length && knownLinks.length < 200; at++) {
      const own = CALL * at
      if (other.call[own + 3] === id && other.call[own + 1] >= 0 && other.ownStart[at] - other.call[own] === lane.ownStart[i] && other.call[own + 1] === lane.ownDur[i]) {
        knownLinks.push({from: lane.start[i], fromLane: lane, to: other.start[at], toLane: other, at})
      }
    }
  }
  return knownLinks
}

function laneTitle(lane) {
  const where = lane.gpu !== null ? 'GPU ' + lane.gpu : lane.tid !== null ? 'thread ' + lane.tid : 'host'
  return reportText(lane) + where + ', ' + lane.label
}

function choose(lane, i, isShown) {
  selected = lane === null ? null : {lane, i}
  if (lane === null) {
    said.textContent = 'nothing selected'
    factsBox.replaceChildren(make('p', 'dim', HINT))
  } else {
    factsBox.replaceChildren(...factsOf(lane, i))
    const call = callOf(lane, i)
    said.textContent = nameOf(lane, i) + ', ' + time(lane.dur[i]) + ', starts at ' + time(lane.start[i]) + ', ' + laneTitle(lane) + (call === null ? '' : ', launched by ' + call.name)
    openTab('facts')
  }
  fitPanel()
  if (lane !== null && isShown) reveal(lane, i)
  remember()
  ask()
}

// Moves the window so that a slice is in it.
function revealTime(start, dur) {
  const end = start + dur, span = view.to - view.from
  if (end < view.from || start > view.to || dur < span / 400 || dur > 4 * span) {
    const wanted = Math.min(Math.max(dur * 8, 1000), Math.max(span, dur * 8)), middle = (start + end) / 2
    show(middle - wanted / 2, middle + wanted / 2)
  }
}
function revealLane(lane) {
  if (isPinned(lane)) return
  if (closedOver(lane) !== null || lane.isHidden) {
    lane.group.isClosed = lane.group.section.isClosed = false
    layout()
  }
  if (yOf(lane) < AXIS + pinnedHeight || yOf(lane) + lane.height > view.height) scroll(lane.y - (view.height - AXIS - pinnedHeight) / 2)
}
function reveal(lane, i) {
  revealTime(lane.start[i], lane.dur[i])
  revealLane(lane)
}

// The slice at a place of the canvas: the innermost one, with some pixels of tolerance.
function sliceAt(x, y) {
  const row = rowAt(y)
  if (row === undefined || row.group || x < GUTTER || isCounter(row.lane)) return null
  const lane = row.lane, t = tOf(x), slack = 3 * (view.to - view.from) / (view.width - GUTTER)
  let best = -1
  for (let i = above(lane.reach, t - slack - 1); i < lane.start.length && lane.start[i] <= t + slack; i++) {
    const end = lane.start[i] + lane.dur[i]
    if (end < t - slack) continue
    const isHit = lane.start[i] <= t && t <= end, wasHit = best >= 0 && lane.start[best] <= t && t <= lane.start[best] + lane.dur[best]
    if (best < 0 || isHit || !wasHit) best = isHit || !wasHit ? i : best
  }
  return best < 0 ? null : {lane, i: best}
}

// The address has the window, the selected slice, the measured time with its lanes, and the search, in ns:
// #t=FROM,TO&s=LANE,START,DURATION&m=FROM,TO,LANE.LANE&q=TEXT. #finding=N leads to the longest place of a finding.
// Lanes and findings of the second of several reports are 1/LANE and 1/N.
let timer = 0
function address() {
  let mark = '#t=' + Math.round(view.from) + ',' + Math.round(view.to)
  if (selected !== null) mark += '&s=' + selected.lane.id + ',' + selected.lane.start[selected.i] + ',' + selected.lane.dur[selected.i]
  if (measured !== null) mark += '&m=' + measured.from + ',' + measured.to + ',' + (measured.lanes.size === lanes.length ? 'all' : [...measured.lanes].map(lane => lane.id).join('.'))
  if (sought !== '') mark += '&q=' + encodeURIComponent(sought)
  return mark
}
function remember() {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const mark = address()
    if (areEmptyHidden) refreshEmpty()
    if (mark !== location.hash) try { history.replaceState(null, '', mark) } catch { location.replace(mark) }
    const more = document.getElementById('more')
    if (more !== null && lanes.some(isCut)) showMore(more)
    const sorted = [...timings].sort((one, other) => one - other)
    document.body.dataset.frameMs = sorted.length === 0 ? '' : sorted[sorted.length >> 1].toFixed(2)
    document.body.dataset.worstFrameMs = sorted.length === 0 ? '' : sorted[sorted.length - 1].toFixed(2)
  }, 200)
}
// A time of the page as an option for a report, on whose clock it is.
const timeOption = (report, from, to) => [from, to].map(t => (Math.max(inReport(report, t), 0) / 1e9).toFixed(9) + 's').join('/')
const isCut = lane => lane.left > 0 && lane.about === undefined
// How to get what is left out: of several reports, from that of the selected slice.
function showMore(more) {
  if (!areSeveral) return more.textContent = 'For every slice of this window, add --time ' + timeOption(reports[0], view.from, view.to) + ' to the command.'
  const {report} = selected === null ? lanes.find(isCut) : selected.lane
  more.replaceChildren('For every slice of this window of one report: ', command('timeline', report.given, '--time', timeOption(report, view.from, view.to), '-o', 'part.html'))
}

function recall() {
  const text = location.hash.slice(1)
  if (text === '' || location.hash === address()) return
  // Addresses of earlier pages have numbers only.
  const parts = new Map(/^[\d.,-]+$/.test(text) ? [] : text.split('&').map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
  const old = text.split(',')
  const from = parts.size > 0 ? (parts.get('t') || '').split(',').map(Number) : old.slice(0, 2).map(Number)
  if (from.length === 2 && from.every(Number.isFinite) && from[1] > from[0]) show(from[0], from[1])
  if (parts.has('q') && searchBox) {
    searchBox.value = decodeURIComponent(parts.get('q'))
    search()
  }
  if (parts.has('m')) {
    const [start, end, ids] = parts.get('m').split(',')
    const own = ids === undefined || ids === 'all' ? lanes : ids.split('.').map(id => laneOf.get(id)).filter(lane => lane !== undefined)
    if (Number(end) > Number(start)) measure(Number(start), Number(end), own)
  }
  if (parts.has('finding')) goToFinding(parts.get('finding'))
  const place = parts.has('s') ? parts.get('s').split(',') : old.slice(2)
  const lane = laneOf.get(place[0])
  if (lane === undefined || place.length < 3) return
  const i = lane.start.findIndex((start, at) => start === Number(place[1]) && lane.dur[at] === Number(place[2]))
  if (i >= 0) {
    choose(lane, i, false)
    revealLane(lane)
  }
}

// The lanes of each report: lists of numbers become arrays, with times in ns on the clock of the page.
const names = data.names
// The class of a kernel, copy or fill of each name; null for other names.
const classes = names.map((_, at) => data.classes[at] ?? null)
const HEIGHTS = {
  phases: 14, steps: 16, finding: 12, 'critical path': 16, 'GPU idle': 14, stream: 24, metric: 28, memory: 28,
  'NVTX on GPU': 16, NVTX: 16, 'CUDA API': 18, 'OS calls': 16, 'thread state': 10,
}
const CALL = 6
const isCounter = lane => lane.kind === 'metric' || lane.kind === 'memory'
const isNamed = lane => lane.kind === 'NVTX' || lane.kind === 'NVTX on GPU' || lane.kind === 'CUDA API' || lane.kind === 'OS calls'

function summed(list, from) {
  const values = new Float64Array(list.length)
  let at = from
  for (let i = 0; i < list.length; i++) values[i] = at += list[i]
  return values
}

// The time of a report: that of its lanes, or of its counters where there is nothing else.
const counters = []
for (const report of reports) {
  for (const metric of report.metrics) {
    counters.push({
      report, kind: 'metric', gpu: metric.gpu, label: metric.name, unit: metric.unit, most: metric.max, from: onPage(report, metric.from),
      length: lengthOnPage(report, metric.piece), values: JSON.parse(metric.means),
    })
  }
  for (const memory of report.memory) {
    counters.push({
      report, kind: 'memory', gpu: memory.gpu, label: memory.allocator + ', ' + memory.memory, unit: 'bytes', most: memory.max,
      at: summed(JSON.parse(memory.starts), 0).map(t => onPage(report, t)), values: JSON.parse(memory.used),
    })
  }
}
const firstOf = counter => counter.at ? counter.at[0] : counter.from
const lastOf = counter => counter.at ? counter.at[counter.at.length - 1] : counter.from + counter.length * counter.values.length
for (const report of reports) {
  const own = counters.filter(counter => counter.report === report), lane = report.lanes[0]
  report.isEmpty = lane === undefined && own.length === 0
  if (report.isEmpty) continue
  // `ownFrom` and `ownTo` are on the clock of the report.
  report.ownFrom = lane ? lane.from : inReport(report, Math.min(...own.map(firstOf)))
  report.ownTo = lane ? lane.from + Math.max(lane.window, 1) : Math.max(inReport(report, Math.max(...own.map(lastOf))), report.ownFrom + 1)
  report.from = onPage(report, report.ownFrom)
  report.to = onPage(report, report.ownTo)
  report.piece = lengthOnPage(report, lane ? lane.piece : 1)
}
const shownReports = reports.filter(report => !report.isEmpty)
const isEmpty = shownReports.length === 0
const FROM = isEmpty ? 0 : Math.min(...shownReports.map(report => report.from))
const TO = isEmpty ? 1 : Math.max(...shownReports.map(report => report.to))
const known = new Map()
names.forEach((name, at) => { if (at > 0) known.set(name, at) })
function intern(text) {
  if (text === null) return 0
  if (!known.has(text)) {
    known.set(text, names.length)
    names.push(text)
    classes.push(null)
  }
  return known.get(text)
}

// The latest end so far finds the first slice of a window; the level insets a slice inside another one.
function nest(lane) {
  const count = lane.start.length
  lane.reach = new Float64Array(count)
  lane.level = new Uint8Array(count)
  const open = []
  let reach = -Infinity
  for (let i = 0; i < count; i++) {
    const start = lane.start[i], end = start + lane.dur[i]
    while (open.length > 0 && open[open.length - 1] <= start) open.pop()
    lane.level[i] = Math.min(open.length, 3)
    open.push(end)
    lane.reach[i] = reach = Math.max(reach, end)
  }
}

// Four numbers per piece and category: piece, category, busy share in thousandths, slices.
function strip(lane, pieces, length, from) {
  lane.strip = Uint32Array.from(pieces)
  lane.stripAt = new Uint32Array(data.pieces + 2)
  lane.pieceLength = length
  lane.pieceFrom = from
  for (let i = 0; i < pieces.length; i += 4) lane.stripAt[pieces[i] + 1] = i + 4
  for (let i = 1; i < lane.stripAt.length; i++) lane.stripAt[i] = Math.max(lane.stripAt[i], lane.stripAt[i - 1])
}

const lanes = [], laneOf = new Map()
function add(lane) {
  lane.height = HEIGHTS[lane.kind]
  lane.id = lane.report.prefix + lane.id
  lanes.push(lane)
  laneOf.set(lane.id, lane)
}

const NOTHING = {pid: null, tid: null, context: null, stream: null, depth: null, left: 0, call: [], event: [], correlation: [], size: new Map()}
// Puts the slices of a lane on the clock of the page. Their times in the report stay, to find calls and steps by.
function align(lane, starts, durs) {
  const {report} = lane
  lane.ownStart = lane.start = starts
  lane.ownDur = lane.dur = durs
  if (!report.isShifted) return
  lane.start = starts.map(start => onPage(report, start))
  lane.dur = durs.map((dur, i) => onPage(report, starts[i] + dur) - lane.start[i])
}
// A band above the lanes of a GPU: its slices, sorted by start.
function band(fields, slices, pieces, length, from) {
  const lane = {...NOTHING, ...fields}
  align(lane, Float64Array.from(slices, slice => slice.start), Float64Array.from(slices, slice => slice.dur))
  lane.name = Uint32Array.from(slices, slice => intern(slice.name))
  lane.category = Uint32Array.from(slices, slice => intern(slice.category))
  lane.about = slices.map(slice => slice.about)
  nest(lane)
  strip(lane, pieces, lengthOnPage(lane.report, length), onPage(lane.report, from))
  add(lane)
}
const zip = (row, make) => {
  const durs = JSON.parse(row.durs), starts = summed(JSON.parse(row.starts), 0)
  return durs.map((dur, at) => ({start: starts[at], dur, ...make(at)}))
}

function addPhases(report, gpu) {
  const pids = [...new Set(report.phases.filter(row => row.gpu === gpu).map(row => row.pid))]
  for (const pid of pids) {
    const own = report.phases.filter(row => row.gpu === gpu && row.pid === pid && row.start < report.ownTo && row.start + row.dur > report.ownFrom)
    if (own.length === 0) continue
    const slices = own.map(row => ({start: row.start, dur: row.dur, name: row.phase, category: row.phase, about: row}))
    slices.sort((one, other) => one.start - other.start)
    band({report, id: 'h' + gpu + '-' + pid, kind: 'phases', gpu, pid, label: pids.length > 1 ? 'phases of process ' + pid : 'phases', count: own.length}, slices, [], 1, report.ownFrom)
  }
}
function addFindings(report, gpu) {
  for (const row of report.findings) if (row.gpu === gpu) {
    const subjects = row.subjects, of = JSON.parse(row.subjectsOf)
    const slices = zip(row, at => ({name: subjects[of[at]] || null, category: row.finding, about: row}))
    const pieces = JSON.parse(row.pieces).flatMap((value, at, list) => at % 2 === 0 ? [value, intern(row.finding), list[at + 1], 0] : [])
    band({report, id: 'f' + row.rank + '-' + gpu, kind: 'finding', gpu, label: row.rank + ' ' + row.finding, count: row.count, left: row.count - slices.length, finding: row}, slices, pieces, row.piece, row.from)
  }
}
function addPath(report, gpu) {
  for (const row of report.chains) if (row.gpu === gpu) {
    const texts = row.nameTexts, kinds = JSON.parse(row.kindTexts), of = JSON.parse(row.namesOf), kindOf = JSON.parse(row.kindsOf)
    const slices = zip(row, at => ({name: of[at] < 0 ? null : texts[of[at]], category: kinds[kindOf[at]], about: row}))
    const list = JSON.parse(row.pieces), triples = []
    for (let i = 0; i < list.length; i += 3) triples.push([list[i + 1], intern(kinds[list[i]]), list[i + 2], 0])
    triples.sort((one, other) => one[0] - other[0])
    band({report, id: 'c' + gpu, kind: 'critical path', gpu, label: 'critical path', count: row.count, left: row.count - slices.length, sums: new Map(JSON.parse(row.kindSums).map((sum, at) => [kinds[at], sum]))}, slices, triples.flat(), row.piece, row.from)
  }
}

function addLane(report, lane) {
  lane.report = report
  lane.number = lane.id
  align(lane, summed(JSON.parse(lane.starts), report.ownFrom), Float64Array.from(JSON.parse(lane.durs)))
  lane.name = Uint32Array.from(JSON.parse(lane.names))
  lane.category = Uint32Array.from(JSON.parse(lane.categories))
  lane.event = summed(JSON.parse(lane.events), 0)
  lane.correlation = summed(JSON.parse(lane.correlations), 0)
  lane.call = Float64Array.from(JSON.parse(lane.calls))
  lane.size = new Map()
  const sizes = JSON.parse(lane.sizes)
  for (let i = 0; i < sizes.length; i += 2) lane.size.set(sizes[i], sizes[i + 1])
  nest(lane)
  strip(lane, JSON.parse(lane.pieces), report.piece, report.from)
  for (const key of ['starts', 'durs', 'names', 'categories', 'events', 'correlations', 'calls', 'sizes', 'pieces']) delete lane[key]
  lane.label = lane.kind === 'stream' ? 'stream ' + lane.stream + (lane.streamName ? ' ' + lane.streamName : '')
    : lane.kind === 'GPU idle' ? 'idle, by cause'
    : lane.depth === null ? lane.kind : lane.kind + ', depth ' + lane.depth
  add(lane)
}
// Of a GPU: phases, steps, findings, the critical path, then its idle time and streams, and what was sampled on it.
function addReport(report) {
  const sampled = counters.filter(counter => counter.report === report)
  const gpus = [...new Set([...report.lanes.filter(lane => lane.gpu !== null).map(lane => lane.gpu), ...sampled.map(counter => counter.gpu)])]
  gpus.sort((one, other) => (one === null) - (other === null) || one - other)
  for (const gpu of gpus) {
    const own = gpu === null ? [] : report.lanes.filter(lane => lane.gpu === gpu)
    if (own.length > 0) addPhases(report, gpu)
    for (const lane of own) if (lane.kind === 'steps') addLane(report, lane)
    if (own.length > 0) addFindings(report, gpu)
    if (own.length > 0) addPath(report, gpu)
    for (const lane of own) if (lane.kind !== 'steps') addLane(report, lane)
    sampled.filter(counter => counter.gpu === gpu).forEach((counter, at) => add({...NOTHING, id: 'n' + gpu + '-' + at, ...counter}))
  }
  for (const lane of report.lanes) if (lane.gpu === null) addLane(report, lane)
}
reports.forEach(addReport)

// A stream says its process where its report has several, and its context where its process has two streams of its number.
const streamCount = new Map(), streamKey = lane => lane.report.prefix + lane.gpu + ' ' + lane.pid + ' ' + lane.stream
for (const lane of lanes) if (lane.kind === 'stream') {
  streamCount.set(streamKey(lane), (streamCount.get(streamKey(lane)) || 0) + 1)
  lane.report.pids.add(lane.pid)
}
for (const lane of lanes) if (lane.kind === 'stream') {
  const owner = lane.report.pids.size > 1 ? ['process ' + lane.pid] : []
  if (streamCount.get(streamKey(lane)) > 1) owner.push('context ' + lane.context)
  if (owner.length > 0) lane.label += ' (' + owner.join(', ') + ')'
}

// A function without its result, template arguments and parameters. Ranges keep their whole name.
const shortNames = names.map(name => {
  if (name === null) return '(no name)'
  const cut = name.replace(/^void /, '').replace(/[<(].*$/s, '')
  const at = cut.lastIndexOf('::')
  return (at < 0 ? cut : cut.slice(at + 2)) || name
})
const nameOf = (lane, i) => lane.name[i] === 0 ? names[lane.category[i]] : names[lane.name[i]]
// Where there is little room, without the domain or category before a name, such as `cpu_op:`; not without the words of `a::b`.
const withoutPrefix = text => text.replace(/^[A-Za-z_]\w*:(?=[^:\s]*[^:\s\d])/, '')
// What is written on a slice.
function textOf(lane, i) {
  if (lane.kind.startsWith('NVTX') && lane.name[i] !== 0) return names[lane.name[i]]
  if (lane.kind === 'GPU idle' && lane.name[i] !== 0) return names[lane.category[i]] + ': ' + names[lane.name[i]]
  if (lane.kind === 'critical path' && lane.name[i] !== 0) return names[lane.category[i]] + ': ' + shortNames[lane.name[i]]
  return shortNames[lane.name[i] || lane.category[i]]
}

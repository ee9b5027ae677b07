'use strict'
// The data: lists of numbers become arrays, with times in ns on the report's clock.
const data = JSON.parse(document.getElementById('data').textContent)
const names = data.names
const isEmpty = data.lanes.length === 0
const FROM = isEmpty ? 0 : data.lanes[0].from
const TO = isEmpty ? 1 : FROM + Math.max(data.lanes[0].window, 1)
const PIECE = isEmpty ? 1 : data.lanes[0].piece
const HEIGHTS = {'GPU idle': 14, stream: 22, 'NVTX on GPU': 16, NVTX: 16, 'CUDA API': 18, 'OS calls': 16, 'thread state': 10}
const CALL = 6
const HEADER = 20

function summed(list, from) {
  const values = new Float64Array(list.length)
  let at = from
  for (let i = 0; i < list.length; i++) values[i] = at += list[i]
  return values
}

const laneOf = new Map()
for (const lane of data.lanes) {
  lane.start = summed(JSON.parse(lane.starts), FROM)
  lane.dur = Float64Array.from(JSON.parse(lane.durs))
  lane.name = Uint32Array.from(JSON.parse(lane.names))
  lane.category = Uint32Array.from(JSON.parse(lane.categories))
  lane.event = summed(JSON.parse(lane.events), 0)
  lane.correlation = summed(JSON.parse(lane.correlations), 0)
  lane.call = Float64Array.from(JSON.parse(lane.calls))
  lane.size = new Map()
  const sizes = JSON.parse(lane.sizes)
  for (let i = 0; i < sizes.length; i += 2) lane.size.set(sizes[i], sizes[i + 1])
  // The latest end so far finds the first slice of a window; the level insets a slice inside another one.
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
  const pieces = JSON.parse(lane.pieces)
  lane.strip = new Uint32Array(pieces)
  lane.stripAt = new Uint32Array(data.pieces + 1)
  for (let i = 0; i < pieces.length; i += 4) lane.stripAt[pieces[i] + 1] = i + 4
  for (let i = 1; i <= data.pieces; i++) lane.stripAt[i] = Math.max(lane.stripAt[i], lane.stripAt[i - 1])
  for (const key of ['starts', 'durs', 'names', 'categories', 'events', 'correlations', 'calls', 'sizes', 'pieces']) delete lane[key]
  lane.height = HEIGHTS[lane.kind]
  lane.label = lane.kind === 'stream' ? 'stream ' + lane.stream
    : lane.kind === 'GPU idle' ? 'idle, by cause'
    : lane.depth === null ? lane.kind : lane.kind + ', depth ' + lane.depth
  laneOf.set(lane.id, lane)
}

// Where each lane is drawn. Each GPU and each thread has a header; so have the streams of another process.
const rows = []
let contentHeight = 0
let group = ''
for (const lane of data.lanes) {
  const title = lane.gpu !== null ? 'GPU ' + lane.gpu : 'thread ' + lane.tid + ' (process ' + lane.pid + ')'
  if (title !== group) {
    rows.push({title, y: contentHeight, height: HEADER})
    contentHeight += HEADER
    group = title
  }
  lane.y = contentHeight
  rows.push({lane, y: contentHeight, height: lane.height + 3})
  contentHeight += lane.height + 3
}
const streamCount = new Map()
for (const lane of data.lanes) if (lane.kind === 'stream') {
  const key = lane.gpu + ' ' + lane.stream
  streamCount.set(key, (streamCount.get(key) || 0) + 1)
}
for (const lane of data.lanes) if (lane.kind === 'stream' && streamCount.get(lane.gpu + ' ' + lane.stream) > 1) {
  lane.label += ' (' + lane.pid + ', context ' + lane.context + ')'
}

// A function without its result, template arguments and parameters. Ranges keep their whole name.
const shortNames = names.map(name => {
  if (name === null) return '(no name)'
  const cut = name.replace(/^void /, '').replace(/[<(].*$/s, '')
  const at = cut.lastIndexOf('::')
  return (at < 0 ? cut : cut.slice(at + 2)) || name
})
const nameOf = (lane, i) => lane.name[i] === 0 ? names[lane.category[i]] : names[lane.name[i]]

function time(ns) {
  const size = Math.abs(ns)
  const [factor, unit] = size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, 'µs'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's']
  return (factor === 1 ? String(Math.round(ns)) : (ns / factor).toPrecision(4)) + ' ' + unit
}
const exact = ns => ns.toLocaleString('en-US') + ' ns'
function bytes(size) {
  const [factor, unit] = size < 1e3 ? [1, 'B'] : size < 1e6 ? [1e3, 'kB'] : size < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return factor === 1 ? size + ' B' : (size / factor).toPrecision(4) + ' ' + unit + ' (' + size.toLocaleString('en-US') + ' B)'
}
// The first position from which `list` is above `value`.
function above(list, value) {
  let low = 0, high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle] > value) high = middle
    else low = middle + 1
  }
  return low
}

// What is selected: its facts, its launch, and the address that leads back to it.
const factsBox = document.getElementById('facts'), said = document.getElementById('said')

function callOf(lane, i) {
  if (lane.call.length === 0 || lane.call[CALL * i + 1] < 0) return null
  const at = CALL * i
  return {start: lane.start[i] - lane.call[at], dur: lane.call[at + 1], name: names[lane.call[at + 2]], lane: laneOf.get(lane.call[at + 3]) || null, tid: lane.call[at + 4], range: lane.call[at + 5] === 0 ? null : names[lane.call[at + 5]]}
}

// Lines from launch calls to operations: of an operation, its call; of a call, the operations in the page that it launched.
let linked = null, known = []
function links(lane, i) {
  if (linked !== null && linked.lane === lane && linked.i === i) return known
  linked = {lane, i}
  known = []
  const call = callOf(lane, i)
  if (call !== null && call.lane !== null) {
    known.push({from: call.start, fromLane: call.lane, to: lane.start[i], toLane: lane})
  } else if (lane.kind === 'CUDA API') {
    for (const other of data.lanes) if (other.kind === 'stream') for (let at = 0; at < other.start.length && known.length < 200; at++) {
      const own = CALL * at
      if (other.call[own + 3] === lane.id && other.call[own + 1] >= 0 && other.start[at] - other.call[own] === lane.start[i] && other.call[own + 1] === lane.dur[i]) {
        known.push({from: lane.start[i], fromLane: lane, to: other.start[at], toLane: other, at})
      }
    }
  }
  return known
}

function laneTitle(lane) {
  const where = lane.gpu !== null ? 'GPU ' + lane.gpu : 'thread ' + lane.tid
  return where + ', ' + lane.label
}

const ID_OF = {'NVTX on GPU': 'range_id', NVTX: 'range_id', 'CUDA API': 'call_id', 'OS calls': 'call_id'}
function factsOf(lane, i) {
  const list = [['start', exact(lane.start[i])], ['duration', time(lane.dur[i]) + (lane.dur[i] < 1000 ? '' : ' (' + exact(lane.dur[i]) + ')')], ['lane', laneTitle(lane)]]
  list.push(['kind', lane.kind === 'stream' || lane.kind === 'GPU idle' ? names[lane.category[i]] : lane.kind])
  if (lane.stream !== null) list.push(['stream', lane.stream + ' (context ' + lane.context + ')'])
  if (lane.pid !== null) list.push(['process', String(lane.pid)])
  if (lane.correlation.length > 0 && lane.correlation[i] !== 0) list.push(['correlation', String(lane.correlation[i])])
  if (lane.event.length > 0) list.push([ID_OF[lane.kind] || 'row ID', String(lane.event[i])])
  if (lane.size.has(i)) list.push(['size', bytes(lane.size.get(i))])
  const call = callOf(lane, i)
  if (call !== null) {
    list.push(['launched by', (call.name || 'a call') + ' on thread ' + call.tid])
    list.push(['launch', exact(call.start) + ', ' + time(call.dur)])
    list.push(['from launch to start', time(lane.start[i] - call.start)])
    if (call.range !== null) list.push(['in range', call.range])
  } else if (lane.kind === 'stream') {
    list.push(['launched by', 'unknown: no call was recorded'])
  }
  if (lane.kind === 'CUDA API') list.push(['launched', links(lane, i).length + ' GPU operations in the page'])
  return list
}

function choose(lane, i, isShown) {
  selected = lane === null ? null : {lane, i}
  factsBox.replaceChildren()
  if (lane === null) {
    said.textContent = 'nothing selected'
  } else {
    const title = document.createElement('b')
    title.textContent = nameOf(lane, i)
    const list = document.createElement('dl')
    for (const [word, value] of factsOf(lane, i)) {
      const pair = document.createElement('div'), term = document.createElement('dt'), fact = document.createElement('dd')
      term.textContent = word
      fact.textContent = value
      pair.append(term, fact)
      list.append(pair)
    }
    factsBox.append(title, list)
    const call = callOf(lane, i)
    said.textContent = nameOf(lane, i) + ', ' + time(lane.dur[i]) + ', starts at ' + time(lane.start[i]) + ', ' + laneTitle(lane) + (call === null ? '' : ', launched by ' + call.name)
    if (isShown) reveal(lane, i)
  }
  remember()
  ask()
}

// Moves the window so that a slice is in it.
function reveal(lane, i) {
  const start = lane.start[i], end = start + lane.dur[i], span = view.to - view.from
  if (end < view.from || start > view.to || lane.dur[i] < span / 400 || lane.dur[i] > 4 * span) {
    const wanted = Math.min(Math.max(lane.dur[i] * 8, 1000), Math.max(span, lane.dur[i] * 8))
    const middle = (start + end) / 2
    show(middle - wanted / 2, middle + wanted / 2)
  }
  if (yOf(lane) < AXIS || yOf(lane) + lane.height > view.height) scroll(lane.y - (view.height - AXIS) / 2)
}

// The window and the selection in the address: #FROM,TO or #FROM,TO,LANE,START, in ns.
let timer = 0
function remember() {
  clearTimeout(timer)
  timer = setTimeout(() => {
    let mark = '#' + Math.round(view.from) + ',' + Math.round(view.to)
    if (selected !== null) mark += ',' + selected.lane.id + ',' + selected.lane.start[selected.i] + ',' + selected.lane.dur[selected.i]
    if (mark !== location.hash) try { history.replaceState(null, '', mark) } catch { location.replace(mark) }
    const more = document.getElementById('more')
    if (more !== null && data.lanes.some(lane => lane.left > 0)) {
      more.textContent = 'For every slice of this window, add --time ' + (view.from / 1e9).toFixed(9) + 's/' + (view.to / 1e9).toFixed(9) + 's to the command.'
    }
  }, 200)
}
function recall() {
  const numbers = location.hash.slice(1).split(',').map(Number)
  if (numbers.length < 2 || numbers.some(number => !Number.isFinite(number)) || numbers[1] <= numbers[0]) return
  show(numbers[0], numbers[1])
  const lane = laneOf.get(numbers[2])
  if (lane === undefined) return
  const i = lane.start.findIndex((start, at) => start === numbers[3] && lane.dur[at] === numbers[4])
  if (i >= 0) {
    choose(lane, i, false)
    if (yOf(lane) < AXIS || yOf(lane) + lane.height > view.height) scroll(lane.y - (view.height - AXIS) / 2)
  }
}

// The slice at a place of the canvas: the innermost one, with some pixels of tolerance.
function sliceAt(x, y) {
  const row = rows.find(row => row.lane && y >= AXIS + row.y - view.top && y < AXIS + row.y - view.top + row.height)
  if (!row || x < GUTTER || y < AXIS) return null
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

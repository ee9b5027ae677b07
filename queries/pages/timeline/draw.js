// Draws the window: the axis, the rows, borders of steps, the measured time and the selection.
const canvas = document.getElementById('lanes')
const pen = canvas.getContext('2d', {alpha: false})
const GUTTER = 190, AXIS = 22
const view = {from: FROM, to: TO, top: 0, width: 1, height: 1}
let selected = null, matches = null, measured = null, isAsked = false, pointed = null
const timings = []

const xOf = t => GUTTER + (t - view.from) / (view.to - view.from) * (view.width - GUTTER)
const tOf = x => view.from + (x - GUTTER) / (view.width - GUTTER) * (view.to - view.from)

// The length of the measured time on the axis, which has no label of its own there.
function measuredLabel() {
  if (measured === null) return null
  const x = Math.max(xOf(measured.from), GUTTER), end = Math.min(xOf(measured.to), view.width)
  if (end <= GUTTER || x >= view.width) return null
  const text = time(measured.to - measured.from), width = pen.measureText(text).width + 10
  return {text, width, left: Math.max(GUTTER, Math.min((x + end - width) / 2, view.width - width))}
}
function drawAxis() {
  pen.fillStyle = colours.soft
  pen.fillRect(0, 0, view.width, AXIS)
  const span = view.to - view.from, target = span / Math.max((view.width - GUTTER) / 130, 1)
  let step = 10 ** Math.floor(Math.log10(Math.max(target, 1)))
  for (const factor of [2, 2.5, 2]) if (step < target) step *= factor
  step = Math.max(1, Math.round(step))
  const decimals = unit => Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)))
  const [unit, word] = view.to < 1e6 ? [1e3, 'µs'] : view.to < 1e9 ? [1e6, 'ms'] : [1e9, 's']
  const own = measuredLabel()
  pen.fillStyle = colours.dim
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = Math.round(xOf(t)) + 0.5
    pen.fillRect(x, AXIS - 6, 1, 6)
    const text = (t / unit).toFixed(decimals(unit)) + ' ' + word, end = x + 4 + pen.measureText(text).width
    const isFree = own === null || end < own.left || x + 4 > own.left + own.width
    if (isFree && end <= view.width) pen.fillText(text, x + 4, AXIS / 2)
    pen.globalAlpha = 0.18
    pen.fillRect(x, AXIS, 1, view.height)
    pen.globalAlpha = 1
  }
  pen.fillStyle = colours.soft
  pen.fillRect(0, 0, GUTTER - 1, AXIS)
  pen.fillStyle = colours.dim
  pen.fillText('window ' + time(span), 8, AXIS / 2)
}

// Where steps begin, through all lanes of their GPU, if there is room between them.
function drawBorders(visible) {
  const scale = (view.width - GUTTER) / (view.to - view.from)
  for (const lane of lanes) if (lane.kind === 'steps' && lane.start.length > 1) {
    const shown = visible.filter(row => row.lane && row.lane.gpu === lane.gpu && row.lane.report === lane.report && row.lane !== lane)
    const usual = (lane.start[lane.start.length - 1] - lane.start[0]) / (lane.start.length - 1)
    if (shown.length === 0 || usual * scale < 12) continue
    pen.fillStyle = colours.fg
    pen.globalAlpha = 0.25
    for (let i = above(lane.reach, view.from); i < lane.start.length && lane.start[i] <= view.to; i++) {
      const x = xOf(lane.start[i])
      if (x >= GUTTER) for (const row of shown) pen.fillRect(x, topOf(row), 0.7, row.height)
    }
    pen.globalAlpha = 1
  }
}

// A shape at the right of a name: pinned or not, on the row under the mouse.
function drawPin(x, y, isSet) {
  pen.strokeStyle = pen.fillStyle = isSet ? colours.select : colours.dim
  pen.lineWidth = 1.3
  pen.beginPath()
  pen.arc(x, y - 2, 3.2, 0, 7)
  if (isSet) pen.fill()
  pen.moveTo(x, y + 1.2)
  pen.lineTo(x, y + 6)
  pen.stroke()
}
// A text that is cut where it would be longer than the room for it.
function fitted(text, room) {
  const {width} = pen.measureText(text)
  return width <= room ? text : text.slice(0, Math.max(Math.floor(text.length * room / width) - 1, 1)) + '…'
}
function drawLabel(row, y) {
  const lane = row.lane, isPointed = pointed === row
  if (isPointed) {
    pen.fillStyle = colours.soft
    pen.fillRect(0, y, GUTTER - 1, row.height - GAP)
  }
  pen.fillStyle = selected !== null && selected.lane === lane ? colours.select : isPointed ? colours.fg : colours.dim
  const where = row.isPinned ? (lane.gpu !== null ? ', GPU ' + lane.gpu : lane.tid !== null ? ', thread ' + lane.tid : '') + (areSeveral ? ', ' + lane.report.name : '') : ''
  pen.fillText(fitted(lane.label + where, GUTTER - 18 - (isPointed || row.isPinned ? 20 : 6)), 18, y + lane.height / 2)
  if (isPointed || row.isPinned) drawPin(GUTTER - 11, y + lane.height / 2, row.isPinned)
  if (lane.finding) {
    pen.fillStyle = colours.find
    pen.fillRect(8, y + lane.height / 2 - 3, 6, 6)
  }
}
const summaryOf = group => group.lanes.find(lane => lane.kind === 'stream') || group.lanes.find(lane => lane.kind === 'NVTX') || group.lanes[0]
// The header of a group. A collapsed one has the busiest lane of the group in small.
function drawHeader(row, y) {
  const group = row.group, left = areSeveral && !group.isReport ? 14 : 6
  pen.fillStyle = group.isReport ? colours.line : colours.soft
  pen.fillRect(0, y, view.width, HEADER - 3)
  if (group.isClosed && group.lanes.length > 0) {
    const lane = summaryOf(group), height = lane.height
    pen.save()
    pen.beginPath()
    pen.rect(GUTTER, y, view.width, HEADER - 3)
    pen.clip()
    lane.height = HEADER - 5
    drawLane(lane, y + 1)
    lane.height = height
    pen.restore()
    pen.fillStyle = group.isReport ? colours.line : colours.soft
    pen.fillRect(0, y, GUTTER - 1, HEADER - 3)
  }
  pen.fillStyle = colours.fg
  pen.font = 'bold 11px system-ui, sans-serif'
  const how = group.isReport && !group.isClosed && group.report.how || ''
  const about = group.isClosed ? ' (' + group.lanes.length + ')' : row.hidden > 0 ? ' (' + row.hidden + ' empty)' : ''
  // The number stays, whatever is cut; a little too long is narrower instead.
  const room = (group.isClosed ? GUTTER : view.width) - left - 4
  pen.fillText(fitted((group.isClosed ? '▸ ' : '▾ ') + group.title + how, 1.15 * room - pen.measureText(about).width) + about, left, y + HEADER / 2 - 1, room)
  pen.font = '11px system-ui, sans-serif'
}

// The selected slice, and a line from the call that launched it.
function drawSelected() {
  if (selected === null || selected.lane.y === null) return
  const {lane, i} = selected, y = yOf(lane), x = xOf(lane.start[i]), end = xOf(lane.start[i] + lane.dur[i])
  const top = isPinned(lane) ? AXIS : AXIS + pinnedHeight
  const isBehind = own => !isPinned(own) && closedOver(own) !== null
  const middle = own => isBehind(own) ? yOf(own) + HEADER / 2 : yOf(own) + own.height / 2
  pen.save()
  pen.beginPath()
  pen.rect(GUTTER, AXIS, view.width - GUTTER, view.height)
  pen.clip()
  pen.strokeStyle = colours.select
  pen.lineWidth = 2
  for (const link of links(lane, i)) {
    const fromX = xOf(link.from), fromY = middle(link.fromLane), toX = xOf(link.to), toY = middle(link.toLane)
    pen.beginPath()
    pen.moveTo(fromX, fromY)
    pen.bezierCurveTo(fromX + 40, fromY, toX - 40, toY, toX, toY)
    pen.stroke()
    pen.fillStyle = colours.select
    pen.fillRect(fromX - 2.5, fromY - 2.5, 5, 5)
  }
  pen.beginPath()
  pen.rect(GUTTER, top, view.width - GUTTER, view.height)
  pen.clip()
  const height = isBehind(lane) ? HEADER - 3 : lane.height
  pen.strokeRect(Math.max(x, GUTTER - 4) - 1, y - 1, Math.max(Math.min(end, view.width + 4) - Math.max(x, GUTTER - 4), 1) + 2, height + 2)
  pen.restore()
}

// The measured time: what is outside is paler, and the measured lanes have an edge.
function drawMeasured() {
  if (measured === null) return
  const x = Math.max(xOf(measured.from), GUTTER), end = Math.min(xOf(measured.to), view.width)
  pen.save()
  pen.beginPath()
  pen.rect(GUTTER, 0, view.width - GUTTER, view.height)
  pen.clip()
  pen.fillStyle = colours.measure
  pen.globalAlpha = 0.16
  for (const row of rows) {
    if (!row.lane || !measured.lanes.has(row.lane)) continue
    const y = topOf(row), top = Math.max(y, row.isPinned ? AXIS : AXIS + pinnedHeight)
    if (end > x && y + row.height > top) pen.fillRect(x, top, end - x, y + row.height - top)
  }
  pen.globalAlpha = 1
  for (const edge of [measured.from, measured.to]) pen.fillRect(xOf(edge) - 0.5, 0, 1, view.height)
  pen.fillRect(x, AXIS - 3, Math.max(end - x, 1), 3)
  const label = measuredLabel()
  if (label !== null) {
    pen.fillRect(label.left, 2, label.width, AXIS - 6)
    pen.fillStyle = colours.bg
    pen.fillText(label.text, label.left + 5, AXIS / 2 - 1)
  }
  pen.restore()
}

function drawRows(visible) {
  for (const row of visible) {
    const y = topOf(row)
    if (row.group) {
      drawHeader(row, y)
    } else {
      drawLabel(row, y)
      drawLane(row.lane, y)
    }
  }
}
function clipped(top, height, act) {
  pen.save()
  pen.beginPath()
  pen.rect(0, top, view.width, height)
  pen.clip()
  act()
  pen.restore()
}

function draw() {
  isAsked = false
  const began = performance.now()
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
  pen.textBaseline = 'middle'
  pen.font = '11px system-ui, sans-serif'
  pen.fillStyle = colours.bg
  pen.fillRect(0, 0, view.width, view.height)
  drawAxis()
  pen.fillStyle = colours.line
  pen.fillRect(GUTTER - 1, AXIS, 1, view.height)
  const fixed = rows.filter(row => row.isPinned)
  const free = rows.filter(row => !row.isPinned && topOf(row) + row.height >= AXIS + pinnedHeight && topOf(row) <= view.height)
  clipped(AXIS + pinnedHeight, view.height, () => {
    drawRows(free)
    drawBorders(free)
  })
  clipped(AXIS, pinnedHeight, () => {
    drawRows(fixed)
    drawBorders(fixed)
  })
  pen.fillStyle = colours.line
  if (pinnedHeight > 0) pen.fillRect(0, AXIS + pinnedHeight - 3, view.width, 2)
  drawMeasured()
  drawSelected()
  drawMap()
  legend([...fixed, ...free].flatMap(row => row.lane ? [row.lane] : row.group.isClosed ? [summaryOf(row.group)] : []))
  timings.push(performance.now() - began)
  if (timings.length > 500) timings.shift()
  if (document.body.dataset.firstFrameMs === undefined) document.body.dataset.firstFrameMs = performance.now().toFixed(1)
}
function ask() {
  if (!isAsked) {
    isAsked = true
    requestAnimationFrame(draw)
  }
}

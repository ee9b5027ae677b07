// Draws the window: strips where there are more slices than pixels, or where slices are left out, and slices elsewhere.
const canvas = document.getElementById('lanes')
const pen = canvas.getContext('2d', {alpha: false})
const GUTTER = 190, AXIS = 22
const view = {from: FROM, to: TO, top: 0, width: 1, height: 1}
let selected = null, matches = null, isAsked = false
const timings = []

const PAINT = {
  compute: '--compute', communication: '--comm', copy: '--copy', fill: '--fill', graph: '--graph',
  'host sync': '--sync', 'memory allocation': '--alloc', 'other API call': '--other', 'outside CUDA API': '--outside',
  'launch call': '--launch', 'OS call': '--os', queued: '--queued', unknown: '--unknown',
  running: '--run', runnable: '--launch', blocked: '--sync', 'off CPU': '--off', ended: '--off',
}
const PALETTE = ['#5b8fd6', '#d98a3d', '#4fae8a', '#c7699b', '#9a86d4', '#b0a03a', '#55a8b8', '#cf6f63', '#7fa65a', '#8d99a8']
let colours = {}, paint = []
function readColours() {
  const style = getComputedStyle(document.documentElement)
  for (const key of ['bg', 'fg', 'dim', 'line', 'soft', 'select', 'text']) colours[key] = style.getPropertyValue('--' + key).trim()
  paint = names.map(name => {
    if (name !== null && Object.hasOwn(PAINT, name)) return style.getPropertyValue(PAINT[name]).trim()
    let hash = 7
    for (const letter of (name || '').replace(/\d+/g, '')) hash = (31 * hash + letter.codePointAt(0)) >>> 0
    return PALETTE[hash % PALETTE.length]
  })
}
const isNamed = lane => lane.kind === 'NVTX' || lane.kind === 'NVTX on GPU' || lane.kind === 'CUDA API' || lane.kind === 'OS calls'

const xOf = t => GUTTER + (t - view.from) / (view.to - view.from) * (view.width - GUTTER)
const tOf = x => view.from + (x - GUTTER) / (view.width - GUTTER) * (view.to - view.from)
const yOf = lane => AXIS + lane.y - view.top

function drawStrip(lane, y, alpha) {
  const first = Math.max(0, Math.floor((view.from - FROM) / PIECE))
  const last = Math.min(data.pieces - 1, Math.floor((view.to - FROM) / PIECE))
  pen.globalAlpha = alpha
  const isOne = isNamed(lane)
  let colour = null
  for (let piece = first; piece <= last; piece++) {
    let from = lane.stripAt[piece]
    const end = lane.stripAt[piece + 1]
    if (from >= end) continue
    const x = Math.max(xOf(FROM + piece * PIECE), GUTTER), right = xOf(Math.min(FROM + (piece + 1) * PIECE, TO))
    let base = y + lane.height
    for (; from < end; from += 4) {
      const high = Math.min(Math.max(lane.strip[from + 2] * lane.height / 1000, lane.strip[from + 2] > 0 ? 1 : 0), base - y)
      const own = isOne ? colours.dim : paint[lane.strip[from + 1]]
      if (own !== colour) pen.fillStyle = colour = own
      pen.fillRect(x, base - high, right - x + 0.3, high)
      base -= high
    }
  }
  pen.globalAlpha = 1
}

// `which`: 0 draws what a search does not match, 1 what it matches or, without a search, everything.
function drawSlices(lane, y, first, last, which) {
  const isOne = isNamed(lane), right = view.width, scale = (right - GUTTER) / (view.to - view.from)
  let colour = null
  pen.globalAlpha = which === 1 ? 1 : 0.18
  // Per level, the pixel up to which it is drawn: narrower slices behind it add nothing.
  const drawn = [-1, -1, -1, -1]
  const texts = []
  for (let i = first; i < last; i++) {
    const x = GUTTER + (lane.start[i] - view.from) * scale, end = x + lane.dur[i] * scale, level = lane.level[i]
    if (end < GUTTER || end < drawn[level] || matches !== null && matches[lane.name[i]] !== which) continue
    const left = Math.max(x, GUTTER, drawn[level]), width = Math.max(Math.min(end, right) - left, 0.8)
    const key = isOne ? lane.name[i] : lane.category[i]
    if (paint[key] !== colour) pen.fillStyle = colour = paint[key]
    const inset = 3 * level
    pen.fillRect(left, y + inset, width > 3 ? width - 0.6 : width, lane.height - inset)
    drawn[level] = left + width
    if (width > 34 && lane.height > 12 && which === 1) texts.push(i, left, width, inset)
  }
  pen.globalAlpha = 1
  pen.fillStyle = colours.text
  for (let t = 0; t < texts.length; t += 4) {
    const i = texts[t], room = Math.floor((texts[t + 2] - 6) / 6.7)
    const text = lane.kind.startsWith('NVTX') && lane.name[i] !== 0 ? names[lane.name[i]]
      : lane.kind === 'GPU idle' && lane.name[i] !== 0 ? names[lane.category[i]] + ': ' + names[lane.name[i]]
      : shortNames[lane.name[i] || lane.category[i]]
    pen.fillText(text.length > room ? text.slice(0, Math.max(room - 1, 1)) + '…' : text, texts[t + 1] + 3, y + texts[t + 3] + (lane.height - texts[t + 3]) / 2)
  }
}

function drawLane(lane, y) {
  const first = above(lane.reach, view.from), last = above(lane.start, view.to)
  const isDense = last - first > 2 * (view.width - GUTTER)
  const isSearch = matches !== null
  if (isDense || lane.left > 0) drawStrip(lane, y, isDense && !isSearch ? 1 : 0.35)
  if (!isDense && isSearch) drawSlices(lane, y, first, last, 0)
  if (!isDense || isSearch) drawSlices(lane, y, first, last, 1)
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
  pen.fillStyle = colours.dim
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = Math.round(xOf(t)) + 0.5
    pen.fillRect(x, AXIS - 6, 1, 6)
    pen.fillText((t / unit).toFixed(decimals(unit)) + ' ' + word, x + 4, AXIS / 2)
    pen.globalAlpha = 0.18
    pen.fillRect(x, AXIS, 1, view.height)
    pen.globalAlpha = 1
  }
  pen.fillText('window ' + time(span), 8, AXIS / 2)
}

// The selected slice, and a line from the call that launched it.
function drawSelected() {
  if (selected === null) return
  const {lane, i} = selected, y = yOf(lane), x = xOf(lane.start[i]), end = xOf(lane.start[i] + lane.dur[i])
  pen.save()
  pen.beginPath()
  pen.rect(GUTTER, AXIS, view.width - GUTTER, view.height)
  pen.clip()
  pen.strokeStyle = colours.select
  pen.lineWidth = 2
  for (const link of links(lane, i)) {
    const fromX = xOf(link.from), fromY = yOf(link.fromLane) + link.fromLane.height / 2
    const toX = xOf(link.to), toY = yOf(link.toLane) + link.toLane.height / 2
    pen.beginPath()
    pen.moveTo(fromX, fromY)
    pen.bezierCurveTo(fromX + 40, fromY, toX - 40, toY, toX, toY)
    pen.stroke()
    pen.fillStyle = colours.select
    pen.fillRect(fromX - 2.5, fromY - 2.5, 5, 5)
  }
  pen.strokeRect(Math.max(x, GUTTER - 4) - 1, y - 1, Math.max(Math.min(end, view.width + 4) - Math.max(x, GUTTER - 4), 1) + 2, lane.height + 2)
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
  pen.save()
  pen.beginPath()
  pen.rect(0, AXIS, view.width, view.height)
  pen.clip()
  for (const row of rows) {
    const y = AXIS + row.y - view.top
    if (y + row.height < AXIS || y > view.height) continue
    if (row.title) {
      pen.fillStyle = colours.soft
      pen.fillRect(0, y, view.width, HEADER - 3)
      pen.fillStyle = colours.fg
      pen.font = 'bold 11px system-ui, sans-serif'
      pen.fillText(row.title, 8, y + HEADER / 2 - 1)
      pen.font = '11px system-ui, sans-serif'
      continue
    }
    pen.fillStyle = selected !== null && selected.lane === row.lane ? colours.select : colours.dim
    pen.fillText(row.lane.label, 16, y + row.lane.height / 2, GUTTER - 22)
    drawLane(row.lane, y)
  }
  pen.fillStyle = colours.line
  pen.fillRect(GUTTER - 1, AXIS, 1, view.height)
  pen.restore()
  drawSelected()
  timings.push(performance.now() - began)
  if (timings.length > 500) timings.shift()
}
function ask() {
  if (!isAsked) {
    isAsked = true
    requestAnimationFrame(draw)
  }
}

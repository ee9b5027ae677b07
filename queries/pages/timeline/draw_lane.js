// Draws one lane: slices where they are wide enough, shares of columns where they are not, strips where slices are left out.
const isDenseIn = (first, last) => last - first > 1.5 * (view.width - GUTTER)

// A colour of the style sheet as a pixel of an image.
const pixels = new Map()
function pixelOf(colour) {
  let pixel = pixels.get(colour)
  if (pixel === undefined) {
    const hex = colour.length === 4 ? [...colour.slice(1)].map(letter => letter + letter).join('') : colour.slice(1)
    const bytes = new Uint8ClampedArray([0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16)).concat(255))
    pixels.set(colour, pixel = new Uint32Array(bytes.buffer)[0])
  }
  return pixel
}

// Lanes of columns are images, because a rectangle for each column would take longer than a frame may.
const scratch = document.createElement('canvas'), scratchPen = scratch.getContext('2d')
let image = null
function surface(width, height) {
  if (image === null || image.width !== width || image.height !== height) image = new ImageData(width, height)
  return new Uint32Array(image.data.buffer).fill(0)
}
function blit(width, height, y) {
  if (scratch.width !== width || scratch.height < height) {
    scratch.width = width
    scratch.height = Math.max(height, 32)
  }
  scratchPen.putImageData(image, 0, 0)
  pen.imageSmoothingEnabled = false
  pen.drawImage(scratch, 0, 0, width, height, GUTTER, y, width, height)
}

// Shares from the report, of every slice.
function drawStrip(lane, y, alpha) {
  const begin = lane.pieceFrom, first = Math.max(0, Math.floor((view.from - begin) / lane.pieceLength))
  const last = Math.min(data.pieces - 1, Math.floor((view.to - begin) / lane.pieceLength))
  const isOne = isNamed(lane), paint = paints[SCALE_OF[lane.kind]], dim = pixelOf(colours.dim)
  const width = Math.ceil(view.width - GUTTER), height = Math.round(lane.height), own = surface(width, height)
  for (let piece = first; piece <= last; piece++) {
    const end = lane.stripAt[piece + 1]
    const x = Math.max(0, Math.round(xOf(begin + piece * lane.pieceLength) - GUTTER))
    const right = Math.min(width, Math.max(x + 1, Math.round(xOf(Math.min(begin + (piece + 1) * lane.pieceLength, lane.report.to)) - GUTTER)))
    let base = height, sum = 0
    for (let from = lane.stripAt[piece]; from < end && base > 0; from += 4) {
      if (lane.strip[from + 2] === 0) continue
      sum += lane.strip[from + 2] / 1000
      const top = Math.max(0, Math.min(Math.round(height * (1 - sum)), base - 1)), pixel = isOne ? dim : pixelOf(paint[lane.strip[from + 1]])
      for (let row = top; row < base; row++) own.fill(pixel, row * width + x, row * width + right)
      base = top
    }
  }
  pen.globalAlpha = alpha
  blit(width, height, y)
  pen.globalAlpha = 1
}

// For each column of pixels, how long each category or name runs in it: lanes stay readable as a picture.
const MOST = 16
let covered = new Float64Array(0)
function drawColumns(lane, y, first, last) {
  const width = Math.ceil(view.width - GUTTER), height = Math.round(lane.height), scale = (view.width - GUTTER) / (view.to - view.from)
  const keys = keysOf(lane), paint = paints[scaleOf(lane)], slots = new Map(), slotPixel = []
  if (covered.length < width * MOST) covered = new Float64Array(width * MOST)
  covered.fill(0, 0, width * MOST)
  for (let i = first; i < last; i++) {
    const colour = paint[keys[i] || lane.category[i]] || colours.dim
    let slot = slots.get(colour)
    if (slot === undefined) {
      slot = Math.min(slots.size, MOST - 1)
      slots.set(colour, slot)
      slotPixel[slot] = pixelOf(slot === MOST - 1 ? colours.dim : colour)
    }
    let x = Math.max((lane.start[i] - view.from) * scale, 0)
    const end = Math.min((lane.start[i] + lane.dur[i] - view.from) * scale, width)
    while (x < end) {
      const column = Math.floor(x), next = Math.min(column + 1, end)
      covered[slot * width + column] += next - x
      x = next
    }
  }
  const own = surface(width, height), used = slotPixel.length
  for (let column = 0; column < width; column++) {
    // Slices inside others count as well, up to the whole height.
    let base = height, sum = 0
    for (let slot = 0; slot < used && base > 0; slot++) {
      const part = covered[slot * width + column]
      if (part === 0) continue
      sum += part
      const top = Math.max(0, Math.min(Math.round(height * (1 - sum)), base - 1))
      for (let row = top; row < base; row++) own[row * width + column] = slotPixel[slot]
      base = top
    }
  }
  blit(width, height, y)
}

// `which`: 0 draws what a search does not match, 1 what it matches or, without a search, everything.
function drawSlices(lane, y, first, end, which) {
  const right = view.width, scale = (right - GUTTER) / (view.to - view.from)
  const keys = keysOf(lane), paint = paints[scaleOf(lane)], ink = inks[scaleOf(lane)]
  let colour = null
  pen.globalAlpha = which === 1 ? 1 : 0.18
  // Per level, the pixel up to which it is drawn: narrower slices behind it add nothing.
  const drawn = [-1, -1, -1, -1]
  // Labels, and the last one of each level: what is drawn into a slice later takes room from its label.
  const labels = [], last = [null, null, null, null], least = lane.kind === 'steps' ? 16 : 34
  for (let i = first; i < end; i++) {
    const x = GUTTER + (lane.start[i] - view.from) * scale, stop = x + lane.dur[i] * scale, level = lane.level[i]
    if (stop < GUTTER || stop < drawn[level] || matches !== null && matches[lane.name[i]] !== which) continue
    const left = Math.max(x, GUTTER, drawn[level]), width = Math.max(Math.min(stop, right) - left, 0.8)
    const key = keys[i] || lane.category[i]
    if (paint[key] !== colour) pen.fillStyle = colour = paint[key] || colours.dim
    const inset = 3 * level
    pen.fillRect(left, y + inset, width > 3 ? width - 0.6 : width, lane.height - inset)
    drawn[level] = left + width
    if (which === 0 || lane.height <= 11 || width <= 3) continue
    for (let outer = 0; outer < level; outer++) {
      const label = last[outer]
      if (label === null || label.right <= left) continue
      if (left - label.left > least) label.right = left
      else label.left = Math.max(label.left, left + width)
    }
    if (width > least) labels.push(last[level] = {i, left, right: left + width, inset})
  }
  pen.globalAlpha = 1
  for (const {i, left, right, inset} of labels) {
    if (right - left <= least) continue
    const room = Math.floor((right - left - 6) / 6.7)
    let text = textOf(lane, i)
    if (text.length > room && (isNamed(lane) || lane.kind === 'steps')) text = withoutPrefix(text)
    // The number says more of a step than the beginning of its name.
    if (lane.kind === 'steps' && text.length > room) text = (/\d+$/.exec(text) || [text])[0]
    pen.fillStyle = ink[keys[i] || lane.category[i]] || colours.fg
    pen.fillText(text.length > room ? text.slice(0, Math.max(room - 1, 1)) + '…' : text, left + 3, y + inset + (lane.height - inset) / 2)
  }
}

// A counter: the area under its values, from 0 to its largest one.
function valueAt(lane, t) {
  if (lane.at) {
    const i = above(lane.at, t) - 1
    return i < 0 ? null : lane.values[i]
  }
  const i = Math.floor((t - lane.from) / lane.length)
  return i < 0 || t > lane.from + lane.length * (lane.values.length + 1) ? null : lane.values[Math.min(i, lane.values.length - 1)]
}
const wholeOf = lane => lane.unit === '%' || lane.unit === 'percent' ? 100 : lane.most || 1
function drawCounter(lane, y) {
  const whole = Math.max(wholeOf(lane), lane.most || 0)
  pen.fillStyle = colours.counter
  for (let x = GUTTER; x < view.width; x++) {
    const value = valueAt(lane, tOf(x + 0.5))
    if (value === null || !(value > 0)) continue
    const high = Math.max(value / whole * lane.height, 0.7)
    pen.fillRect(x, y + lane.height - high, 1, high)
  }
  pen.globalAlpha = 0.4
  pen.fillRect(GUTTER, y + lane.height, view.width - GUTTER, 0.5)
  pen.globalAlpha = 1
}

function drawLane(lane, y) {
  if (isCounter(lane)) return drawCounter(lane, y)
  const first = above(lane.reach, view.from), last = above(lane.start, view.to)
  const isDense = isDenseIn(first, last), isSearch = matches !== null
  if (lane.left > 0) drawStrip(lane, y, isDense && !isSearch && scaleOf(lane) === SCALE_OF[lane.kind] ? 1 : 0.35)
  if (isDense) {
    if (lane.left === 0 || isNamed(lane) || scaleOf(lane) !== SCALE_OF[lane.kind]) {
      pen.globalAlpha = isSearch ? 0.25 : 1
      drawColumns(lane, y, first, last)
      pen.globalAlpha = 1
    }
  } else if (isSearch) {
    drawSlices(lane, y, first, last, 0)
  }
  if (!isDense || isSearch) drawSlices(lane, y, first, last, 1)
}

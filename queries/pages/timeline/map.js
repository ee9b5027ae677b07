// The map of the whole time above the lanes: how busy the GPUs are, and where the window, a search and the selection are.
const mapCanvas = document.getElementById('map')
const mapPen = mapCanvas.getContext('2d')
const MAP_HEIGHT = areSeveral ? Math.min(16 + 14 * shownReports.length, 100) : 36
mapCanvas.style.height = MAP_HEIGHT + 'px'
let mapWidth = 1, mapPicture = null
// A page of a single lane that is as long as its window needs no map, but it costs little.
const mapX = t => GUTTER + (t - FROM) / (TO - FROM) * (mapWidth - GUTTER)
const mapT = x => FROM + (x - GUTTER) / (mapWidth - GUTTER) * (TO - FROM)

// The mean share of a report's streams' GPUs per piece and category; without streams, that of threads.
function mapShares(report) {
  const all = lanes.filter(lane => lane.report === report), streams = all.filter(lane => lane.kind === 'stream')
  const shown = streams.length > 0 ? streams : all.filter(lane => isNamed(lane) && (lane.depth === null || lane.depth === 0))
  const parts = Math.max(new Set(shown.map(lane => streams.length > 0 ? lane.gpu : lane.tid)).size, 1)
  const sums = new Map()
  for (const lane of shown) for (let i = 0; i < lane.strip.length; i += 4) {
    const colour = isNamed(lane) ? colours.dim : paints.work[lane.strip[i + 1]]
    if (!sums.has(colour)) sums.set(colour, new Float64Array(data.pieces + 1))
    sums.get(colour)[lane.strip[i]] += lane.strip[i + 2] / 1000 / parts
  }
  return sums
}
function paintMap() {
  mapPicture = document.createElement('canvas')
  mapPicture.width = mapCanvas.width
  mapPicture.height = mapCanvas.height
  const own = mapPicture.getContext('2d')
  own.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
  own.fillStyle = colours.soft
  own.fillRect(0, 0, mapWidth, MAP_HEIGHT)
  // Each report has a line of its own, in the order of the page.
  const line = MAP_HEIGHT / Math.max(shownReports.length, 1)
  shownReports.forEach((report, at) => paintReport(own, report, at * line, line))
  own.fillStyle = colours.dim
  own.font = '11px system-ui, sans-serif'
  own.fillText('whole ' + time(TO - FROM), 8, MAP_HEIGHT / 2 + 4)
}
function paintReport(own, report, top, height) {
  const edge = Math.min(4, height / 6), base = new Float64Array(data.pieces + 1), high = height - 2 * edge
  for (const [colour, shares] of mapShares(report)) {
    own.fillStyle = colour || colours.dim
    for (let piece = 0; piece <= data.pieces; piece++) {
      const part = Math.min(shares[piece], 1 - base[piece])
      if (part <= 0) continue
      const x = mapX(report.from + piece * report.piece)
      own.fillRect(x, top + height - edge - (base[piece] + part) * high, Math.max(mapX(Math.min(report.from + (piece + 1) * report.piece, report.to)) - x, 1), part * high)
      base[piece] += part
    }
  }
  // Above: places of the first finding. Below: borders of steps.
  const finding = lanes.filter(lane => lane.finding && lane.finding.rank === 1 && lane.report === report)
  own.fillStyle = colours.find
  for (const lane of finding) for (let i = 0; i < lane.start.length; i++) own.fillRect(mapX(lane.start[i]), top, Math.max(mapX(lane.start[i] + lane.dur[i]) - mapX(lane.start[i]), 1), edge * 0.75)
  const steps = lanes.find(lane => lane.kind === 'steps' && lane.report === report)
  own.fillStyle = colours.fg
  if (steps && steps.start.length < (mapWidth - GUTTER) / 4) for (const start of steps.start) own.fillRect(mapX(start), top + height - edge, 1, edge)
}
function drawMap() {
  if (mapPicture === null) paintMap()
  mapPen.setTransform(1, 0, 0, 1, 0, 0)
  mapPen.drawImage(mapPicture, 0, 0)
  mapPen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
  if (matches !== null) {
    mapPen.fillStyle = colours.select
    const step = Math.max(1, Math.floor(places.length / 4000))
    for (let at = 0; at < places.length; at += step) mapPen.fillRect(mapX(places[at][0].start[places[at][1]]), 4, 1, MAP_HEIGHT - 10)
  }
  const left = Math.max(mapX(view.from), GUTTER), right = Math.min(mapX(view.to), mapWidth)
  mapPen.fillStyle = colours.bg
  mapPen.globalAlpha = 0.62
  mapPen.fillRect(GUTTER, 0, left - GUTTER, MAP_HEIGHT)
  mapPen.fillRect(right, 0, mapWidth - right, MAP_HEIGHT)
  mapPen.globalAlpha = 1
  if (measured !== null) {
    mapPen.fillStyle = colours.measure
    mapPen.fillRect(mapX(measured.from), 0, Math.max(mapX(measured.to) - mapX(measured.from), 1.5), 4)
  }
  if (selected !== null) {
    mapPen.fillStyle = colours.select
    mapPen.fillRect(mapX(selected.lane.start[selected.i]) - 1, 0, 2, MAP_HEIGHT)
  }
  mapPen.strokeStyle = colours.fg
  mapPen.lineWidth = 1
  mapPen.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2), MAP_HEIGHT - 1)
}
function resizeMap(width) {
  mapWidth = width
  mapCanvas.width = Math.round(width * devicePixelRatio)
  mapCanvas.height = Math.round(MAP_HEIGHT * devicePixelRatio)
  mapPicture = null
}

// A click moves the window there; a drag outside the window selects a new one, inside it moves it.
let mapDrag = null
mapCanvas.addEventListener('pointerdown', event => {
  const t = mapT(Math.max(event.offsetX, GUTTER)), isInside = t >= view.from && t <= view.to && view.to - view.from < (TO - FROM) * 0.98
  mapDrag = {x: event.offsetX, t, from: view.from, to: view.to, isInside, isFar: false}
  mapCanvas.setPointerCapture(event.pointerId)
})
mapCanvas.addEventListener('pointermove', event => {
  if (mapDrag === null) return
  if (Math.abs(event.offsetX - mapDrag.x) > 3) mapDrag.isFar = true
  if (!mapDrag.isFar) return
  const t = mapT(Math.max(GUTTER, Math.min(event.offsetX, mapWidth)))
  if (mapDrag.isInside) show(mapDrag.from + t - mapDrag.t, mapDrag.to + t - mapDrag.t)
  else show(Math.min(t, mapDrag.t), Math.max(t, mapDrag.t))
})
mapCanvas.addEventListener('pointerup', () => {
  if (mapDrag !== null && !mapDrag.isFar) show(mapDrag.t - (view.to - view.from) / 2, mapDrag.t + (view.to - view.from) / 2)
  mapDrag = null
})
mapCanvas.addEventListener('pointercancel', () => { mapDrag = null })
mapCanvas.addEventListener('wheel', event => {
  event.preventDefault()
  zoom(Math.exp(Math.max(-1, Math.min(1, (event.deltaY || event.deltaX) * 0.002))), mapT(Math.max(event.offsetX, GUTTER)))
}, {passive: false})

// Mouse, keyboard and search.
function show(from, to) {
  const most = (TO - FROM) * 1.02, span = Math.min(Math.max(to - from, 100), Math.max(most, 100))
  const middle = (from + to) / 2, margin = (TO - FROM) * 0.01
  let left = Math.max(middle - span / 2, FROM - margin)
  if (left + span > TO + margin) left = Math.max(TO + margin - span, FROM - margin)
  view.from = left
  view.to = left + span
  remember()
  ask()
}
function zoom(factor, at) {
  const t = at === undefined ? (view.from + view.to) / 2 : at
  const span = Math.min(Math.max((view.to - view.from) * factor, 100), (TO - FROM) * 1.02 + 100)
  const share = (t - view.from) / (view.to - view.from)
  show(t - share * span, t + (1 - share) * span)
}
const move = share => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from))
function scroll(top) {
  view.top = Math.max(0, Math.min(top, contentHeight + AXIS - view.height + 8))
  ask()
}

canvas.addEventListener('wheel', event => {
  event.preventDefault()
  const step = event.deltaMode === 1 ? 30 : 1
  if (event.shiftKey || event.offsetX < GUTTER) scroll(view.top + (event.deltaY || event.deltaX) * step)
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX * step / view.width)
  else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * step * 0.002))), tOf(event.offsetX))
}, {passive: false})
let dragged = null
canvas.addEventListener('pointerdown', event => {
  dragged = {x: event.clientX, y: event.clientY, from: view.from, to: view.to, top: view.top, isFar: false}
  canvas.setPointerCapture(event.pointerId)
})
canvas.addEventListener('pointermove', event => {
  if (dragged === null) {
    const under = sliceAt(event.offsetX, event.offsetY)
    canvas.title = under === null ? '' : nameOf(under.lane, under.i).slice(0, 300) + ', ' + time(under.lane.dur[under.i])
    return
  }
  const byX = event.clientX - dragged.x, byY = event.clientY - dragged.y
  if (Math.abs(byX) + Math.abs(byY) > 4) dragged.isFar = true
  if (!dragged.isFar) return
  const shift = byX * (dragged.to - dragged.from) / (view.width - GUTTER)
  show(dragged.from - shift, dragged.to - shift)
  scroll(dragged.top - byY)
})
canvas.addEventListener('pointerup', event => {
  const isClick = dragged !== null && !dragged.isFar
  dragged = null
  if (!isClick) return
  const hit = sliceAt(event.offsetX, event.offsetY)
  choose(hit && hit.lane, hit && hit.i, false)
})
canvas.addEventListener('pointercancel', () => { dragged = null })

// The next or previous slice of the selected lane, or the first one in the window.
function step(by) {
  if (isEmpty) return
  if (selected === null) {
    const lane = data.lanes.find(lane => yOf(lane) >= AXIS) || data.lanes[0]
    choose(lane, Math.min(above(lane.reach, view.from), lane.start.length - 1), true)
    return
  }
  const {lane, i} = selected
  if (i + by >= 0 && i + by < lane.start.length) choose(lane, i + by, true)
}
// The slice of the next lane that is nearest in time.
function change(by) {
  if (selected === null) return step(1)
  const at = data.lanes.indexOf(selected.lane) + by
  if (at < 0 || at >= data.lanes.length) return
  const lane = data.lanes[at]
  choose(lane, Math.min(above(lane.reach, selected.lane.start[selected.i]), lane.start.length - 1), true)
}
function fit() {
  if (selected === null) return
  const {lane, i} = selected, margin = Math.max(lane.dur[i] * 0.1, 50)
  show(lane.start[i] - margin, lane.start[i] + lane.dur[i] + margin)
}
function launch() {
  if (selected === null) return
  const link = links(selected.lane, selected.i)[0]
  if (link === undefined) return
  if (link.at !== undefined) return choose(link.toLane, link.at, true)
  const call = link.fromLane
  const i = call.start.indexOf(link.from)
  if (i >= 0) return choose(call, i, true)
  const span = Math.max((view.to - view.from) / 2, (link.to - link.from) * 0.6)
  show((link.from + link.to) / 2 - span, (link.from + link.to) / 2 + span)
}
const searchBox = document.getElementById('search'), foundBox = document.getElementById('found')
const KEYS = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7),
  a: () => move(-0.15), d: () => move(0.15), ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
  ArrowUp: () => scroll(view.top - 40), ArrowDown: () => scroll(view.top + 40),
  PageUp: () => scroll(view.top - view.height), PageDown: () => scroll(view.top + view.height),
  0: () => show(FROM, TO), Home: () => show(FROM, TO), n: () => step(1), p: () => step(-1), j: () => change(1), k: () => change(-1),
  f: fit, l: launch, Escape: () => choose(null), '/': () => searchBox && searchBox.focus(),
}
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === searchBox || !Object.hasOwn(KEYS, event.key)) return
  KEYS[event.key]()
  event.preventDefault()
})

let places = [], place = -1, sought = ''
function search() {
  const text = searchBox.value.trim().toLowerCase()
  if (text === sought) return
  sought = text
  places = []
  place = -1
  matches = text === '' ? null : Uint8Array.from(names, name => name !== null && name.toLowerCase().includes(text) ? 1 : 0)
  if (matches !== null) for (const lane of data.lanes) for (let i = 0; i < lane.name.length; i++) if (matches[lane.name[i]]) places.push([lane, i])
  places.sort((one, other) => one[0].start[one[1]] - other[0].start[other[1]] || one[0].id - other[0].id || one[1] - other[1])
  foundBox.textContent = matches === null ? '' : places.length.toLocaleString('en-US') + ' slices match'
  ask()
}
function find(by) {
  search()
  if (places.length === 0) return
  place = (place + by + places.length) % places.length
  foundBox.textContent = (place + 1).toLocaleString('en-US') + ' of ' + places.length.toLocaleString('en-US')
  choose(places[place][0], places[place][1], true)
}

function resize() {
  const box = canvas.parentElement.getBoundingClientRect()
  view.width = Math.max(box.width, GUTTER + 50)
  view.height = box.height
  canvas.width = Math.round(view.width * devicePixelRatio)
  canvas.height = Math.round(view.height * devicePixelRatio)
  scroll(view.top)
}
readColours()
if (!isEmpty) {
  searchBox.addEventListener('input', search)
  searchBox.addEventListener('keydown', event => {
    if (event.key === 'Enter') find(event.shiftKey ? -1 : 1)
    if (event.key === 'Escape') canvas.focus()
  })
  for (const [id, act] of [['whole', () => show(FROM, TO)], ['in', KEYS.w], ['out', KEYS.s], ['before', () => find(-1)], ['next', () => find(1)]]) {
    document.getElementById(id).addEventListener('click', act)
  }
  const used = new Set()
  for (const lane of data.lanes) if (!isNamed(lane)) for (let i = 1; i < lane.strip.length; i += 4) used.add(lane.strip[i])
  const keys = document.getElementById('keys')
  for (const category of used) {
    const key = document.createElement('span'), box = document.createElement('i')
    key.className = 'key'
    box.dataset.category = category
    box.style.background = paint[category]
    key.append(box, names[category] + '\u00a0 ')
    keys.append(key)
  }
}
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => {
  readColours()
  for (const box of document.querySelectorAll('i[data-category]')) box.style.background = paint[box.dataset.category]
  ask()
})
addEventListener('hashchange', recall)
new ResizeObserver(resize).observe(canvas.parentElement)
resize()
recall()
ask()

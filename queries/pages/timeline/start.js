// Keys, buttons, and the first frame.
const helpBox = document.getElementById('help'), emptyButton = document.getElementById('empty')
const onLane = act => () => { if (selected !== null) act(selected.lane) }
const KEYS = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7),
  a: () => move(-0.15), d: () => move(0.15), ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
  ArrowUp: () => scroll(view.top - 40), ArrowDown: () => scroll(view.top + 40),
  PageUp: () => scroll(view.top - view.height), PageDown: () => scroll(view.top + view.height),
  0: () => show(FROM, TO), Home: () => show(FROM, TO), n: () => step(1), p: () => step(-1), j: () => change(1), k: () => change(-1),
  f: fit, l: launch, m: measureSelected, Escape: leave, '/': () => searchBox.focus(), '?': () => helpBox.open ? helpBox.close() : helpBox.showModal(),
  t: onLane(pin), '[': onLane(lane => moveLane(lane, -1)), ']': onLane(lane => moveLane(lane, 1)), c: onLane(lane => collapse(lane.group)), r: onLane(lane => areSeveral && collapse(lane.group.section)), C: collapseAll, e: hideEmpty,
}
addEventListener('keydown', event => {
  const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement && event.key !== '?'
  if (isEmpty || event.ctrlKey || event.metaKey || event.altKey || isField || !Object.hasOwn(KEYS, event.key)) return
  if (helpBox.open && event.key !== '?') return
  KEYS[event.key]()
  event.preventDefault()
})

// Whether the size is another one: then the canvas is empty.
function resize() {
  const box = canvas.parentElement.getBoundingClientRect(), wide = Math.max(box.width, GUTTER + 50)
  const [width, height] = [wide, box.height].map(size => Math.round(size * devicePixelRatio))
  if (canvas.width === width && canvas.height === height) return false
  const isWider = canvas.width !== width
  view.width = wide
  view.height = box.height
  canvas.width = width
  canvas.height = height
  if (isWider) resizeMap(view.width)
  scroll(view.top)
  return true
}

// Without an address, the window is the GPU work where most of the time has none: start-up can take longer.
function openOnWork() {
  let from = Infinity, to = -Infinity
  for (const lane of lanes) if (lane.kind === 'stream' && lane.start.length > 0) {
    // A slice that is left out is in a piece that has another one.
    const slack = lane.left > 0 ? lane.pieceLength : 0
    from = Math.min(from, lane.start[0] - slack)
    to = Math.max(to, lane.reach[lane.reach.length - 1] + slack)
  }
  const margin = (to - from) * 0.03
  if (to > from && to - from + 2 * margin < (TO - FROM) * 2 / 3) show(from - margin, to + margin)
}

function listen() {
  searchBox.addEventListener('input', search)
  searchBox.addEventListener('keydown', event => {
    if (event.key === 'Enter') find(event.shiftKey ? -1 : 1)
    if (event.key === 'Escape') canvas.focus()
  })
  const acts = {whole: KEYS[0], in: KEYS.w, out: KEYS.s, before: () => find(-1), next: () => find(1), ask: KEYS['?'], empty: hideEmpty, closed: () => helpBox.close(), fold: collapseAll}
  for (const [id, act] of Object.entries(acts)) document.getElementById(id).addEventListener('click', act)
  themeButton.addEventListener('click', () => {
    const now = themeButton.textContent
    setTheme(now === 'auto' ? 'dark' : now === 'dark' ? 'light' : 'auto')
    mapPicture = null
    ask()
  })
  document.getElementById('mode').addEventListener('change', event => {
    mode = event.target.value
    canvas.focus()
    ask()
  })
  const jump = document.getElementById('jump')
  jump.addEventListener('change', () => {
    if (jump.value !== '') goToFinding(jump.value)
    jump.value = ''
    canvas.focus()
  })
  for (const tab of TABS) document.getElementById('tab-' + tab).addEventListener('click', () => openTab(tab))
}

setTheme(storedTheme())
layout()
if (!isEmpty) listen()
choose(null)
unmeasure()
if (!isEmpty) listResults()
openTab('facts')
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => {
  readColours()
  mapPicture = null
  ask()
})
addEventListener('hashchange', recall)
const wanted = location.hash
new ResizeObserver(() => { if (resize()) draw() }).observe(canvas.parentElement)
resize()
if (wanted !== '') recall()
else openOnWork()
ask()

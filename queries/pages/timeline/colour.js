// One scale of colours per kind of lane, from variables of the style sheet, whose contrast is tested for colour blindness.
const SCALE_OF = {
  phases: 'phase', steps: 'step', finding: 'find', 'critical path': 'path', 'GPU idle': 'idle', stream: 'work', 'NVTX on GPU': 'named',
  NVTX: 'named', 'CUDA API': 'named', 'OS calls': 'named', 'thread state': 'state', metric: 'counter', memory: 'counter',
}
const WORK = ['compute', 'communication', 'copy', 'fill', 'graph']
const IDLE = ['outside CUDA API', 'launch call', 'host sync', 'memory allocation', 'other API call', 'OS call', 'queued', 'running', 'runnable', 'blocked', 'off CPU', 'unknown']
const VARIABLE = {
  work: name => '--work-' + name,
  idle: name => '--idle-' + name.replace(/ /g, '-'),
  state: name => '--state-' + name.replace(/ /g, '-'),
  phase: name => '--phase-' + name,
  step: name => name === 'step' ? '--step' : '--step-off',
  find: () => '--find',
  // Work has its own colours on the critical path, and the host those of the idle time that it causes.
  path: name => ({
    compute: '--work-compute', communication: '--work-communication', memory: '--work-copy', 'launch call': '--idle-launch-call',
    'allocation call': '--idle-memory-allocation', 'other call': '--idle-other-API-call', 'host code': '--idle-outside-CUDA-API',
    'return from wait': '--idle-host-sync', 'launch latency': '--idle-queued', 'stream gap': '--idle-blocked', handover: '--idle-OS-call',
  })[name] || '--idle-unknown',
}
const NAMED_COUNT = 9, CLASS_COUNT = 6
let colours = {}, mode = 'activity'
// Per scale, the colour of each name, and of the text on it.
const paints = {}, inks = {}
let classPaint = new Map()

const hashes = []
function hashOf(at) {
  if (hashes[at] === undefined) {
    const name = names[at] || ''
    let hash = 7
    for (let i = 0; i < name.length; i++) {
      const letter = name.charCodeAt(i)
      // Without digits, so that `step 3` and `step 4` have one colour.
      if (letter < 48 || letter > 57) hash = (Math.imul(31, hash) + letter) >>> 0
    }
    hashes[at] = hash
  }
  return hashes[at]
}
function light(colour) {
  const [red, green, blue] = [1, 3, 5].map(at => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

// The classes of kernels with the most time have a colour; the others are grey.
function rankClasses() {
  const total = new Map()
  for (const lane of lanes) if (lane.kind === 'stream') for (let i = 0; i < lane.dur.length; i++) {
    const of = classes[lane.name[i]] || names[lane.category[i]]
    total.set(of, (total.get(of) || 0) + lane.dur[i])
  }
  return [...total].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).map(entry => entry[0])
}
const ranked = rankClasses()

function readColours() {
  const style = getComputedStyle(document.documentElement)
  const read = name => style.getPropertyValue(name).trim()
  for (const key of ['bg', 'fg', 'dim', 'line', 'soft', 'select', 'measure', 'counter', 'find']) colours[key] = read('--' + key)
  const named = Array.from({length: NAMED_COUNT}, (_, at) => read('--named-' + at))
  const other = read('--class-other')
  // Communication and copies have the colours that they have by activity.
  const own = {communication: read('--work-communication'), memcpy: read('--work-copy')}
  let next = 0
  classPaint = new Map(ranked.slice(0, CLASS_COUNT).map(of => [of, own[of] || read('--class-' + next++)]))
  for (const scale of [...Object.keys(VARIABLE), 'named', 'class', 'name']) paints[scale] = new Array(names.length)
  for (let at = 0; at < names.length; at++) {
    paints.named[at] = paints.name[at] = named[hashOf(at) % NAMED_COUNT]
    paints.class[at] = classPaint.get(classes[at]) || other
  }
  // A name has a colour on the scales on which it is a category.
  for (const lane of lanes) {
    const scale = SCALE_OF[lane.kind]
    if (!VARIABLE[scale]) continue
    // Strips have all categories, and are much shorter than lists of slices.
    const used = new Set(lane.strip.length > 0 ? [] : lane.category)
    for (let i = 1; i < lane.strip.length; i += 4) used.add(lane.strip[i])
    for (const at of used) paints[scale][at] = read(VARIABLE[scale](names[at])) || other
  }
  const dark = read('--ink-dark'), bright = read('--ink-light'), inkOf = new Map([[undefined, dark]])
  for (const scale of Object.keys(paints)) inks[scale] = paints[scale].map(colour => {
    if (!inkOf.has(colour)) inkOf.set(colour, light(colour) < 0.187 ? bright : dark)
    return inkOf.get(colour)
  })
}

// The scale of a lane, and which of its numbers is the key on it.
const scaleOf = lane => lane.kind === 'stream' && mode !== 'activity' ? mode : SCALE_OF[lane.kind]
function keysOf(lane) {
  const scale = scaleOf(lane)
  return scale === 'named' || scale === 'class' || scale === 'name' ? lane.name : lane.category
}
// An operation without a name of its own, such as a graph, has the class of its category.
const colourOf = (lane, i) => paints[scaleOf(lane)][keysOf(lane)[i] || lane.category[i]] || colours.dim

// The legend says what is visible: the lanes and slices in the window, by kind.
const keysBox = document.getElementById('keys')
const TITLE = {work: 'GPU work', class: 'GPU work by class', idle: 'idle by cause', state: 'thread', path: 'critical path', step: 'steps', phase: 'phases', find: 'findings'}
let legendText = ''
function legend(visible) {
  const seen = new Map(), isAnyNamed = visible.some(lane => ['named', 'name'].includes(scaleOf(lane)))
  for (const lane of visible) {
    const scale = scaleOf(lane)
    if (isCounter(lane) || !TITLE[scale]) continue
    if (!seen.has(scale)) seen.set(scale, new Map())
    const own = seen.get(scale)
    if (lane.strip.length > 0 && scale !== 'class') {
      const first = Math.max(0, Math.floor((view.from - lane.pieceFrom) / lane.pieceLength)), last = Math.max(-1, Math.floor((view.to - lane.pieceFrom) / lane.pieceLength))
      for (let i = lane.stripAt[Math.min(first, data.pieces)]; i < lane.stripAt[Math.min(last + 1, data.pieces)]; i += 4) own.set(names[lane.strip[i + 1]], paints[scale][lane.strip[i + 1]])
    } else {
      const end = above(lane.start, view.to)
      for (let i = above(lane.reach, view.from), looked = 0; i < end && looked < 5000; i++, looked++) {
        const of = scale === 'class' ? classes[lane.name[i]] || names[lane.category[i]] : names[lane.category[i]]
        own.set(scale === 'class' && ranked.indexOf(of) >= CLASS_COUNT ? 'other classes' : of, colourOf(lane, i))
      }
    }
  }
  const text = JSON.stringify([isAnyNamed, ...[...seen].map(([scale, own]) => [scale, [...own]])])
  if (text === legendText) return
  legendText = text
  const order = name => [...WORK, ...IDLE].indexOf(name)
  keysBox.replaceChildren()
  for (const [scale, own] of seen) {
    if (own.size === 0) continue
    const group = make('span', 'keys', make('b', '', TITLE[scale]))
    const sorted = [...own].sort((one, other) => order(one[0]) - order(other[0]) || (one[0] < other[0] ? -1 : 1))
    for (const [name, colour] of scale === 'find' ? sorted.slice(0, 1).map(entry => ['place', entry[1]]) : sorted) {
      const box = make('i')
      box.style.background = colour
      group.append(make('span', 'key', box, name))
    }
    keysBox.append(group)
  }
  if (isAnyNamed) keysBox.append(make('span', 'keys', make('b', '', mode === 'name' ? 'work, ranges and calls' : 'ranges and calls'), 'one colour per name, numbers aside'))
}

// Dark and light follow the system until the switch says otherwise.
const themeButton = document.getElementById('theme')
function setTheme(theme) {
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
  try { localStorage.setItem('nsq-theme', theme) } catch { /* A page from a file may have no storage. */ }
  if (themeButton) themeButton.textContent = theme === 'dark' ? 'dark' : theme === 'light' ? 'light' : 'auto'
  readColours()
}
function storedTheme() {
  try { return localStorage.getItem('nsq-theme') || 'auto' } catch { return 'auto' }
}

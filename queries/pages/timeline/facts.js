// The panel: facts of the selected slice, and the tabs of the panel.
const factsBox = document.getElementById('facts'), said = document.getElementById('said'), panel = document.getElementById('panel')
const HINT = 'Click a slice for its facts, drag to measure, Shift and drag to move, wheel to zoom. ? lists all keys.'
const TABS = ['facts', 'sums', 'results']
function openTab(id) {
  for (const tab of TABS) {
    document.getElementById(tab).hidden = tab !== id
    document.getElementById('tab-' + tab).setAttribute('aria-selected', String(tab === id))
  }
}
// Until it has something to show, the panel is a line, so that lanes have the room; a height that was dragged stays.
function fitPanel() {
  const isIdle = selected === null && measured === null && matches === null && panel.style.height === ''
  if (isIdle === panel.classList.contains('idle')) return
  panel.classList.toggle('idle', isIdle)
  resize()
  if (selected !== null) revealLane(selected.lane)
}
// The panel grows by its upper edge, and scrolls: nothing is cut.
const edge = document.getElementById('edge')
edge.addEventListener('pointerdown', event => {
  edge.setPointerCapture(event.pointerId)
  const y = event.clientY, height = panel.getBoundingClientRect().height
  const move = moved => {
    panel.style.height = Math.max(60, Math.min(height + y - moved.clientY, innerHeight * 0.7)) + 'px'
    fitPanel()
  }
  edge.addEventListener('pointermove', move)
  edge.addEventListener('pointerup', () => edge.removeEventListener('pointermove', move), {once: true})
})

const command = (...words) => make('code', '', ['nsq', ...words].join(' '))

function longestPlace(rank, report) {
  let best = null
  for (const lane of lanes) if (lane.finding && lane.finding.rank === rank && lane.report === report) for (let i = 0; i < lane.dur.length; i++) {
    if (best === null || lane.dur[i] > best.lane.dur[best.i]) best = {lane, i}
  }
  if (best !== null) choose(best.lane, best.i, true)
}

function goToFinding(text) {
  const {number, report} = numberedIn(text)
  longestPlace(number, report)
}

// Facts per kind of band: pairs of a word and a value.
function findingFacts(lane, i) {
  const row = lane.finding
  return [
    [row.subjectKind || 'subject', names[lane.name[i]] || 'unknown'],
    ['place', count(i + 1) + ' of ' + count(lane.start.length) + ' on this GPU' + (lane.left > 0 ? ', the longest of ' + count(row.count) : '')],
    ['could save', row.adds > 0 ? 'up to ' + time(row.adds) + (row.steps ? ' per step' : '') + ' (' + row.addsPct.toFixed(1) + ' %), with a perfect fix of all places' : 'nothing more, after the fixes ranked before'],
    ['fix', row.remedy], ['what counts', row.ceiling], ['confidence', row.confidence],
    ['all places, and how the gain was computed', command(lane.report.given, '--explain', row.rank)],
  ]
}
function stepFacts(lane, i) {
  const row = lane.report.stepOf.get(lane.gpu + ' ' + lane.ownStart[i] + ' ' + lane.ownDur[i]), median = lane.report.medianOf.get(lane.gpu)
  if (row === undefined) return []
  const part = value => time(value) + ' (' + share(value, row.dur) + ')'
  const list = [['number', row.step + ', ' + row.part], ['compute', part(row.compute)], ['exposed communication', part(row.communication)], ['exposed copies', part(row.memory)], ['GPU idle', part(row.idle)]]
  if (row.cpu !== null) list.push(['host time', time(row.cpu)])
  list.push(['GPU operations', count(row.ops)])
  if (median !== undefined && median !== row) {
    const more = 100 * (row.dur / median.dur - 1), parts = ['compute', 'communication', 'memory', 'idle']
    const most = parts.reduce((one, other) => Math.abs(row[other] - median[other]) > Math.abs(row[one] - median[one]) ? other : one)
    list.push(['against the median step', (more < 0 ? '' : '+') + more.toFixed(1) + ' %, mostly in ' + {compute: 'compute', communication: 'exposed communication', memory: 'exposed copies', idle: 'idle time'}[most] + ' (' + (row[most] < median[most] ? '−' : '+') + time(Math.abs(row[most] - median[most])) + ')'])
  }
  return list
}
function phaseFacts(lane, row) {
  const list = []
  if (row.steps !== null) list.push(['steps', count(row.steps)])
  if (row.load !== null) list.push(['module loading', time(row.load)])
  if (row.memory !== null) list.push(['allocation', time(row.memory)])
  list.push(['uploads', time(row.upload) + ', ' + scaled(row.bytes)])
  list.push(['all phases', command('run', lane.report.given, '-q', 'capture_phases')])
  return list
}
function pathFacts(lane, i) {
  const row = lane.about[i], kind = names[lane.category[i]], own = lane.sums.get(kind)
  return [
    ['part', kind], ['all parts of this kind', time(own) + ', ' + share(own, row.path) + ' of the critical path'],
    ['why it matters', 'A step gets shorter only if parts of this path do.'],
    ['by kernel, call and range', command('run', lane.report.given, '-q', 'critical_path')],
  ]
}
const ID_OF = {'NVTX on GPU': 'range_id', NVTX: 'range_id', 'CUDA API': 'call_id', 'OS calls': 'call_id'}
function listOf(lane, i) {
  const list = [['duration', time(lane.dur[i]) + (lane.dur[i] < 1000 ? '' : ' (' + exact(lane.dur[i]) + ')')], ['start', exact(lane.start[i])], ['lane', laneTitle(lane)]]
  if (lane.report.isShifted) list.push(['in its own report', exact(lane.ownStart[i]) + ', ' + exact(lane.ownDur[i])])
  if (lane.finding) return [...list, ...findingFacts(lane, i)]
  if (lane.kind === 'phases') return [...list, ...phaseFacts(lane, lane.about[i])]
  if (lane.kind === 'critical path') return [...list, ...pathFacts(lane, i)]
  list.push(['kind', lane.kind === 'steps' || lane.kind === 'stream' || lane.kind === 'GPU idle' ? names[lane.category[i]] : lane.kind])
  if (lane.kind === 'steps') return [...list, ...stepFacts(lane, i)]
  if (lane.kind === 'stream' && classes[lane.name[i]]) list.push(['class', classes[lane.name[i]]])
  if (lane.stream !== null) list.push(['stream', lane.stream + (lane.streamName ? ' ' + lane.streamName : '') + ' (context ' + lane.context + ')'])
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

function factsOf(lane, i) {
  const whole = lane.finding ? lane.finding.rank + '. ' + lane.finding.claim : nameOf(lane, i) || '(no name)', title = make('b', '', whole)
  const tools = make('span', 'tools', button('zoom', 'Zoom to it (f)', fit), button('measure', 'Measure its time on all lanes (m)', measureSelected), button('‹', 'Previous of this lane (p)', () => step(-1)), button('›', 'Next of this lane (n)', () => step(1)))
  if (callOf(lane, i) !== null || lane.kind === 'CUDA API' && links(lane, i).length > 0) tools.append(button(lane.kind === 'CUDA API' ? 'go to its work' : 'go to the launch', 'l', launch))
  if (lane.finding) tools.append(button('longest place', 'Go to the longest place of the finding', () => longestPlace(lane.finding.rank, lane.report)))
  if (lane.kind === 'stream' || isNamed(lane)) tools.append(button('all of this name', 'Search for the name', () => searchFor(nameOf(lane, i))))
  const list = make('dl')
  // The title has two lines; the whole of a longer one comes after the facts.
  const pairs = whole.length > 140 ? [...listOf(lane, i), [lane.finding ? 'finding' : 'name', whole]] : listOf(lane, i)
  for (const [word, value] of pairs) list.append(make('div', typeof value === 'string' && value.length < 70 ? '' : 'wide', make('dt', '', word), make('dd', '', value)))
  return [make('p', 'title', title, tools), list]
}

// Search: slices whose name has a text, as a list, on the map, and one after the other.
const searchBox = document.getElementById('search'), foundBox = document.getElementById('found'), resultsBox = document.getElementById('results')
let places = [], place = -1, sought = '', order = 'time'
const SHOWN = 300
function search() {
  const text = searchBox.value.trim().toLowerCase()
  if (text === sought) return
  sought = text
  places = []
  place = -1
  matches = text === '' ? null : Uint8Array.from(names, name => name !== null && name.toLowerCase().includes(text) ? 1 : 0)
  if (matches !== null) for (const lane of lanes) if (!isCounter(lane)) for (let i = 0; i < lane.name.length; i++) if (matches[lane.name[i]]) places.push([lane, i])
  sortPlaces()
  foundBox.textContent = matches === null ? '' : count(places.length) + (places.length === 1 ? ' slice matches' : ' slices match')
  listResults()
  if (matches !== null) openTab('results')
  fitPanel()
  remember()
  ask()
}
function searchFor(text) {
  searchBox.value = text || ''
  search()
  openTab('results')
}
function sortPlaces() {
  const byTime = (one, other) => one[0].start[one[1]] - other[0].start[other[1]] || lanes.indexOf(one[0]) - lanes.indexOf(other[0]) || one[1] - other[1]
  places.sort(order === 'time' ? byTime : (one, other) => other[0].dur[other[1]] - one[0].dur[one[1]] || byTime(one, other))
}
function sortBy(next) {
  order = next
  place = -1
  sortPlaces()
  listResults()
}
// The results around the current one, and how long each name runs.
function listResults() {
  resultsBox.replaceChildren()
  if (matches === null) return resultsBox.append(make('p', 'dim', 'Search for a part of a name: / goes to the field.'))
  const byName = new Map()
  for (const [lane, i] of places) {
    const key = lane.kind + '\n' + nameOf(lane, i), row = byName.get(key) || {lane, i, count: 0, ns: 0}
    row.count++
    row.ns += lane.dur[i]
    byName.set(key, row)
  }
  const head = make('p', 'title', make('b', '', count(places.length) + (places.length === 1 ? ' slice' : ' slices') + ', ' + count(byName.size) + (byName.size === 1 ? ' name' : ' names')))
  head.append(make('span', 'tools', button('by time', 'Sort by start', () => sortBy('time')), button('longest first', 'Sort by duration', () => sortBy('duration')), button('‹', 'Previous (Shift+Enter)', () => find(-1)), button('›', 'Next (Enter)', () => find(1))))
  if (lanes.some(lane => lane.left > 0 && lane.about === undefined)) head.append(make('span', 'dim', ' among the slices in the page'))
  const list = make('tbody'), from = Math.max(0, Math.min(place - 20, places.length - SHOWN))
  for (let at = from; at < Math.min(from + SHOWN, places.length); at++) {
    const [lane, i] = places[at]
    const line = make('tr', at === place ? 'now' : '', make('td', 'n', count(at + 1)), nameCell(nameOf(lane, i)), make('td', '', laneTitle(lane)), make('td', 'n', time(lane.start[i])), make('td', 'n', time(lane.dur[i])))
    line.tabIndex = 0
    line.addEventListener('click', () => go(at))
    line.addEventListener('keydown', event => { if (event.key === 'Enter') go(at) })
    list.append(line)
  }
  const columns = ['#', 'name', 'lane', 'start', 'duration']
  const results = make('table', 'places', make('thead', '', make('tr', '', ...columns.map(word => make('th', word === 'name' || word === 'lane' ? '' : 'n', word)))), list)
  const sums = make('tbody')
  for (const row of [...byName.values()].sort((one, other) => other.ns - one.ns).slice(0, 100)) {
    sums.append(make('tr', '', nameCell(nameOf(row.lane, row.i)), make('td', '', row.lane.kind), make('td', 'n', time(row.ns)), make('td', 'n', count(row.count)), make('td', 'n', time(row.ns / row.count))))
  }
  const byNames = make('table', '', make('thead', '', make('tr', '', ...['name', 'kind', 'time', 'count', 'mean'].map((word, at) => make('th', at < 2 ? '' : 'n', word)))), sums)
  resultsBox.append(head, make('div', 'tables', make('div', 'scroll', results), make('div', 'scroll', byNames)))
}
function go(at) {
  place = at
  foundBox.textContent = count(place + 1) + ' of ' + count(places.length)
  choose(places[place][0], places[place][1], true)
  listResults()
  openTab('results')
  const now = resultsBox.querySelector('.now')
  if (now !== null) now.scrollIntoView({block: 'nearest'})
}
function find(by) {
  search()
  if (places.length === 0) return
  // The first step of a search by time begins at the window.
  if (place < 0 && order === 'time') {
    const at = places.findIndex(([lane, i]) => lane.start[i] + lane.dur[i] >= view.from)
    return go(by > 0 ? Math.max(at, 0) : (at + places.length - 1) % places.length)
  }
  go((place + by + places.length) % places.length)
}

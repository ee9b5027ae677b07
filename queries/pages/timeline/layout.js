// Where each lane is drawn: pinned lanes stay at the top, and groups below them can be collapsed and put in order.
const HEADER = 20, GAP = 3
const groups = []
function groupOf(lane) {
  if (isCounter(lane)) return ['n' + lane.gpu, (lane.gpu === null ? 'host' : 'GPU ' + lane.gpu) + ': metrics and memory']
  if (lane.gpu !== null) return ['g' + lane.gpu, 'GPU ' + lane.gpu]
  return ['t' + lane.pid + '.' + lane.tid, 'thread ' + lane.tid + ' (process ' + lane.pid + ')']
}
for (const lane of lanes) {
  const [id, title] = groupOf(lane)
  let group = groups.find(group => group.id === id && group.report === lane.report)
  if (group === undefined) groups.push(group = {id, title, report: lane.report, lanes: [], isClosed: false})
  group.lanes.push(lane)
  lane.group = group
}
// Many metrics begin collapsed.
for (const group of groups) if (group.id.startsWith('n') && group.lanes.length > 12) group.isClosed = true
// With several reports, the groups of each are below a header of its own, which collapses them all.
const sections = reports.map(report => ({
  title: report.name, report, isReport: true, isClosed: false, groups: groups.filter(group => group.report === report), lanes: lanes.filter(lane => lane.report === report),
}))
for (const section of sections) for (const group of section.groups) group.section = section
// The closed header that a lane is behind, if it is not pinned.
const closedOver = lane => lane.group.section.isClosed ? lane.group.section : lane.group.isClosed ? lane.group : null

// A lane is empty if nothing of it is in the window. The selected one is not, so that it stays.
function isEmptyLane(lane) {
  if (isCounter(lane) || selected !== null && selected.lane === lane) return false
  if (above(lane.reach, view.from) < above(lane.start, view.to)) return false
  const [first, last] = [view.from, view.to].map(t => Math.max(0, Math.min(Math.floor((t - lane.pieceFrom) / lane.pieceLength), data.pieces)))
  return lane.left === 0 || lane.stripAt[first] === lane.stripAt[last + 1]
}
const pinned = []
let areEmptyHidden = false
let rows = [], pinnedHeight = 0, contentHeight = 0
function layout() {
  rows = []
  pinnedHeight = 0
  for (const lane of lanes) {
    lane.y = null
    lane.isHidden = false
  }
  for (const lane of pinned) {
    lane.y = pinnedHeight
    rows.push({lane, y: pinnedHeight, height: lane.height + GAP, isPinned: true})
    pinnedHeight += lane.height + GAP
  }
  if (pinnedHeight > 0) pinnedHeight += 3
  contentHeight = 0
  for (const section of sections) {
    if (areSeveral) addHeader(section)
    for (const group of section.groups) addGroup(group)
  }
}
function addHeader(group, hidden = 0) {
  group.y = contentHeight
  rows.push({group, hidden, y: contentHeight, height: HEADER, isPinned: false})
  contentHeight += HEADER
}
function addGroup(group) {
  const shown = group.lanes.filter(lane => !pinned.includes(lane))
  if (shown.length === 0) return
  for (const lane of shown) lane.isHidden = areEmptyHidden && isEmptyLane(lane)
  if (!group.section.isClosed) addHeader(group, shown.filter(lane => lane.isHidden).length)
  for (const lane of shown) {
    const closed = closedOver(lane) || (lane.isHidden ? group : null)
    lane.y = closed === null ? contentHeight : closed.y
    if (closed !== null) continue
    rows.push({lane, y: contentHeight, height: lane.height + GAP, isPinned: false})
    contentHeight += lane.height + GAP
  }
}
const isPinned = lane => pinned.includes(lane)
const topOf = row => AXIS + row.y + (row.isPinned ? 0 : pinnedHeight - view.top)
const yOf = lane => AXIS + lane.y + (isPinned(lane) ? 0 : pinnedHeight - view.top)
// A pinned row hides what scrolls below it.
function rowAt(y) {
  if (y < AXIS) return undefined
  const isTop = y < AXIS + pinnedHeight
  return rows.find(row => row.isPinned === isTop && y >= topOf(row) && y < topOf(row) + row.height)
}

function relayout() {
  layout()
  scroll(view.top)
}
// What was at the top stays there, if lanes above it come or go.
function refreshEmpty() {
  const sameAs = one => row => row.lane === one.lane && row.group === one.group && row.isPinned === one.isPinned
  const anchor = rows.find(row => !row.isPinned && topOf(row) >= AXIS + pinnedHeight), before = anchor === undefined ? 0 : topOf(anchor)
  layout()
  const now = anchor === undefined ? undefined : rows.find(sameAs(anchor))
  scroll(now === undefined ? view.top : view.top + topOf(now) - before)
}
function hideEmpty() {
  areEmptyHidden = !areEmptyHidden
  emptyButton.setAttribute('aria-pressed', String(areEmptyHidden))
  refreshEmpty()
}
function pin(lane) {
  const at = pinned.indexOf(lane)
  if (at >= 0) pinned.splice(at, 1)
  else pinned.push(lane)
  relayout()
}
function collapse(group) {
  group.isClosed = !group.isClosed
  relayout()
}
// All groups, or all reports.
function collapseAll() {
  const all = areSeveral ? sections : groups, isAnyOpen = all.some(group => !group.isClosed)
  for (const group of all) group.isClosed = isAnyOpen
  relayout()
}
// Moves a lane within its list, or a group among the groups.
function reorder(list, item, by) {
  const at = list.indexOf(item), to = Math.max(0, Math.min(list.length - 1, at + by))
  if (at < 0 || at === to) return
  list.splice(at, 1)
  list.splice(to, 0, item)
  relayout()
}
const moveLane = (lane, by) => reorder(isPinned(lane) ? pinned : lane.group.lanes, lane, by)

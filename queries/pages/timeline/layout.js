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

const pinned = []
let rows = [], pinnedHeight = 0, contentHeight = 0
function layout() {
  rows = []
  pinnedHeight = 0
  for (const lane of lanes) lane.y = null
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
function addHeader(group) {
  group.y = contentHeight
  rows.push({group, y: contentHeight, height: HEADER, isPinned: false})
  contentHeight += HEADER
}
function addGroup(group) {
  const shown = group.lanes.filter(lane => !pinned.includes(lane))
  if (shown.length === 0) return
  if (!group.section.isClosed) addHeader(group)
  for (const lane of shown) {
    const closed = closedOver(lane)
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

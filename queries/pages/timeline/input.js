// Mouse and keyboard.
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
  const part = (t - view.from) / (view.to - view.from)
  show(t - part * span, t + (1 - part) * span)
}
const move = part => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from))
function scroll(top) {
  view.top = Math.max(0, Math.min(top, contentHeight + AXIS + pinnedHeight - view.height + 8))
  ask()
}

canvas.addEventListener('wheel', event => {
  event.preventDefault()
  const by = event.deltaMode === 1 ? 30 : 1
  if (event.shiftKey || event.offsetX < GUTTER) scroll(view.top + (event.deltaY || event.deltaX) * by)
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX * by / view.width)
  else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * by * 0.002))), tOf(event.offsetX))
}, {passive: false})

// A drag measures; with Shift, the middle button or a finger it moves; on names it changes their order.
let dragged = null
function laneSpan(y, other) {
  if (dragged.isAxis) return lanes
  const top = Math.min(y, other), bottom = Math.max(y, other)
  return rows.filter(row => row.lane && (row.isPinned || topOf(row) + row.height > AXIS + pinnedHeight) && topOf(row) < bottom && topOf(row) + row.height > top).map(row => row.lane)
}
canvas.addEventListener('pointerdown', event => {
  if (event.button > 1) return
  hideTip()
  const y = event.offsetY, isAxis = y < AXIS, edges = measured === null || !isAxis ? [] : [measured.from, measured.to]
  const grabbed = edges.findIndex(edge => Math.abs(xOf(edge) - event.offsetX) < 6)
  dragged = {
    x: event.clientX, y: event.clientY, offsetX: event.offsetX, offsetY: y, from: view.from, to: view.to, top: view.top, isFar: false, isAxis, row: rowAt(y),
    kind: event.offsetX < GUTTER ? 'order' : event.shiftKey || event.button === 1 || event.pointerType === 'touch' ? 'move' : 'measure',
    // The edge that is not grabbed stays.
    anchor: grabbed >= 0 ? edges[1 - grabbed] : tOf(event.offsetX), own: grabbed >= 0 ? [...measured.lanes] : null,
  }
  canvas.setPointerCapture(event.pointerId)
})
canvas.addEventListener('pointermove', event => {
  if (dragged === null) {
    const row = rowAt(event.offsetY)
    const now = row !== undefined && row.lane && event.offsetX < GUTTER ? row : null
    if (now !== pointed) {
      pointed = now
      ask()
    }
    canvas.style.cursor = event.offsetX < GUTTER ? 'pointer' : event.shiftKey ? 'grab' : 'crosshair'
    return hover(event)
  }
  const byX = event.clientX - dragged.x, byY = event.clientY - dragged.y
  if (Math.abs(byX) + Math.abs(byY) > 4) dragged.isFar = true
  if (!dragged.isFar) return
  if (dragged.kind === 'move') {
    const shift = byX * (dragged.to - dragged.from) / (view.width - GUTTER)
    show(dragged.from - shift, dragged.to - shift)
    scroll(dragged.top - byY)
  } else if (dragged.kind === 'measure') {
    const t = tOf(Math.max(GUTTER, Math.min(event.offsetX, view.width))), own = dragged.own || laneSpan(dragged.offsetY, event.offsetY)
    measured = {from: Math.round(Math.min(t, dragged.anchor)), to: Math.round(Math.max(t, dragged.anchor)), lanes: new Set(own)}
    ask()
  }
})
// Puts what was dragged by its name where it is dropped.
function drop(row, y) {
  const target = rowAt(y)
  if (row === undefined || target === undefined || row === target) return
  if (row.group) {
    const to = target.group || target.lane.group, section = to.section || to
    if (row.group.isReport) reorder(sections, row.group, sections.indexOf(section) - sections.indexOf(row.group))
    else if (to.section === row.group.section) reorder(to.section.groups, row.group, to.section.groups.indexOf(to) - to.section.groups.indexOf(row.group))
  } else if (target.lane && row.isPinned === target.isPinned && (row.isPinned || row.lane.group === target.lane.group)) {
    const list = row.isPinned ? pinned : row.lane.group.lanes
    reorder(list, row.lane, list.indexOf(target.lane) - list.indexOf(row.lane))
  }
}
canvas.addEventListener('pointerup', event => {
  const drag = dragged
  dragged = null
  if (drag === null) return
  if (drag.isFar) {
    if (drag.kind === 'order') drop(drag.row, event.offsetY)
    if (drag.kind === 'measure' && measured !== null) {
      if (measured.to > measured.from) measure(measured.from, measured.to, [...measured.lanes])
      else unmeasure()
    }
    return
  }
  if (drag.row !== undefined && drag.row.group) return collapse(drag.row.group)
  if (drag.row !== undefined && drag.offsetX < GUTTER) {
    if (drag.offsetX > GUTTER - 22) pin(drag.row.lane)
    return
  }
  const hit = sliceAt(event.offsetX, event.offsetY)
  if (hit === null && measured !== null && !drag.isAxis) unmeasure()
  choose(hit && hit.lane, hit && hit.i, false)
})
canvas.addEventListener('pointercancel', () => { dragged = null })
canvas.addEventListener('pointerleave', () => {
  hideTip()
  if (pointed !== null) {
    pointed = null
    ask()
  }
})
canvas.addEventListener('dblclick', fit)

// The next or previous slice of the selected lane, or the first one in the window.
const sliceLanes = () => rows.filter(row => row.lane && !isCounter(row.lane)).map(row => row.lane)
function nearest(lane, t) {
  return Math.min(above(lane.reach, t), lane.start.length - 1)
}
function step(by) {
  const shown = sliceLanes()
  if (selected === null) {
    if (shown.length === 0) return
    const lane = shown.find(lane => yOf(lane) >= AXIS) || shown[0]
    return choose(lane, nearest(lane, view.from), true)
  }
  const {lane, i} = selected
  if (i + by >= 0 && i + by < lane.start.length) choose(lane, i + by, true)
}
// The slice of the next lane that is nearest in time.
function change(by) {
  if (selected === null) return step(1)
  const shown = sliceLanes(), at = shown.indexOf(selected.lane) + by
  if (at < 0 || at >= shown.length) return
  choose(shown[at], nearest(shown[at], selected.lane.start[selected.i]), true)
}
function fit() {
  if (selected === null) {
    if (measured !== null) show(measured.from, measured.to)
    return
  }
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
function leave() {
  if (!helpBox.open && measured !== null) return unmeasure()
  choose(null)
}

// The tooltip: what is under the mouse.
const tip = document.getElementById('tip')
function tipLines(x, y) {
  if (y < AXIS) return [time(tOf(x)) + ' since the start of ' + (areSeveral ? reports[0].name : 'the capture'), 'Drag to measure all lanes.']
  const row = rowAt(y)
  if (row === undefined) return null
  if (row.group) return x < GUTTER ? [row.group.title + (row.group.isReport && row.group.report.how || ''), 'Click to ' + (row.group.isClosed ? 'open' : 'collapse') + ', drag to move.'] : null
  const lane = row.lane
  if (x < GUTTER) {
    if (isCounter(lane)) return [laneTitle(lane), 'largest: ' + valueText(lane, lane.most || 0)]
    return [lane.finding ? lane.finding.claim : laneTitle(lane), count(lane.count) + (lane.count === 1 ? ' slice' : ' slices') + (lane.left > 0 ? ', ' + count(lane.start.length) + ' in the page' : '') + '. Drag to move, click the pin to keep at the top.']
  }
  if (isCounter(lane)) {
    const value = valueAt(lane, tOf(x))
    return [lane.label + ': ' + (value === null ? 'not sampled' : valueText(lane, value)), 'at ' + time(tOf(x))]
  }
  const under = sliceAt(x, y)
  if (under === null) return null
  const {i} = under, list = [nameOf(lane, i)]
  if (lane.finding) list[0] = lane.finding.rank + '. ' + lane.finding.claim
  list.push(time(lane.dur[i]) + ', starts at ' + time(lane.start[i]))
  if (lane.finding) list.push((lane.finding.subjectKind || 'subject') + ': ' + (names[lane.name[i]] || 'unknown'))
  list.push(laneTitle(lane) + (lane.kind === 'stream' || lane.kind === 'GPU idle' || lane.kind === 'critical path' ? ', ' + names[lane.category[i]] : '') + (lane.kind === 'stream' && classes[lane.name[i]] ? ', class ' + classes[lane.name[i]] : ''))
  const call = callOf(lane, i)
  if (call !== null) list.push('launch delay ' + time(lane.start[i] - call.start) + ', by ' + (call.name || 'a call') + ' on thread ' + call.tid)
  if (call !== null && call.range !== null) list.push('in range ' + call.range)
  if (lane.kind === 'steps') for (const [word, value] of stepFacts(lane, i).slice(1, 5)) list.push(word + ': ' + value)
  if (lane.size.has(i)) list.push(scaled(lane.size.get(i)) + (lane.dur[i] > 0 ? ', ' + (lane.size.get(i) / lane.dur[i]).toFixed(1) + ' GB/s' : ''))
  const half = (view.to - view.from) / (view.width - GUTTER) / 2, t = tOf(x)
  const near = above(lane.start, t + half) - above(lane.start, t - half)
  if (near > 1) list.push(count(near) + ' slices start in this pixel')
  return list
}
function hover(event) {
  const lines = tipLines(event.offsetX, event.offsetY)
  if (lines === null) return hideTip()
  tip.replaceChildren(make('b', '', lines[0].slice(0, 400)), ...lines.slice(1).map(line => make('div', '', line.slice(0, 300))))
  tip.hidden = false
  const box = tip.getBoundingClientRect()
  const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14
  const top = event.clientY + 18 + box.height > innerHeight ? event.clientY - 12 - box.height : event.clientY + 18
  tip.style.left = Math.max(left, 4) + 'px'
  tip.style.top = Math.max(top, 4) + 'px'
}
function hideTip() {
  tip.hidden = true
}

'use strict'
// The data, and the reports in it. The times of each are put on the clock of the first one, which is that of the page.
const data = JSON.parse(document.getElementById('data').textContent)
const areSeveral = data.reports !== undefined
const reports = (data.reports || [{name: '', path: data.report, at: 0, offset: 0, drift: 0}]).map((row, side) => ({
  ...row, side, prefix: side === 0 ? '' : side + '/', isShifted: row.offset !== 0 || row.drift !== 0, stepOf: new Map(), medianOf: new Map(), pids: new Set(),
}))
// How each was placed, as the page says it, after its name.
document.querySelectorAll('#placed li').forEach((line, side) => { reports[side].how = line.lastChild.textContent })

// A time of a report on the clock of the page, in whole nanoseconds; and back.
const onPage = (report, t) => report.isShifted ? Math.round(t + report.offset + report.drift * (t - report.at)) : t
const inReport = (report, t) => report.isShifted ? report.at + (t - report.offset - report.at) / (1 + report.drift) : t
// Pieces of equal length keep one.
const lengthOnPage = (report, length) => length * (1 + report.drift)

// The rows of a report: those of lanes have its position, others its name. A file that is given twice has all rows twice.
function rowsOf(report, rows) {
  if (!areSeveral) return rows
  const same = reports.filter(other => other.name === report.name), own = rows.filter(row => row.report === report.name)
  const size = own.length / same.length, at = same.indexOf(report)
  return own.slice(at * size, (at + 1) * size)
}
for (const report of reports) {
  report.lanes = areSeveral ? data.lanes.filter(lane => lane.report === report.side) : data.lanes
  for (const key of ['phases', 'steps', 'findings', 'metrics', 'memory']) report[key] = rowsOf(report, data[key])
  report.chains = rowsOf(report, data.path)
  for (const row of report.steps) {
    report.stepOf.set(row.gpu + ' ' + row.start + ' ' + row.dur, row)
    if (row.part === 'median') report.medianOf.set(row.gpu, row)
  }
}
// What comes before the place of a lane where lanes of several reports meet.
const reportText = lane => areSeveral ? lane.report.name + ': ' : ''
// `NUMBER` of the first report, or `REPORT/NUMBER` with reports counted from 0.
function numberedIn(text) {
  const [number, side] = text.split('/').reverse()
  return {number: Number(number), report: reports[Number(side || 0)]}
}

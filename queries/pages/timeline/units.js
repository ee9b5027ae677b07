// Numbers for people, and a search in sorted lists.
function time(ns) {
  const size = Math.abs(ns)
  const [factor, unit] = size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, 'µs'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's']
  return (factor === 1 ? String(Math.round(ns)) : (ns / factor).toPrecision(4)) + ' ' + unit
}
const exact = ns => ns.toLocaleString('en-US') + ' ns'
const count = number => number.toLocaleString('en-US')
const share = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : ''
function scaled(size) {
  const [factor, unit] = size < 1e3 ? [1, 'B'] : size < 1e6 ? [1e3, 'kB'] : size < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return factor === 1 ? size + ' B' : (size / factor).toPrecision(4) + ' ' + unit
}
const bytes = size => size < 1e3 ? size + ' B' : scaled(size) + ' (' + count(size) + ' B)'
// The first position from which `list` is above `value`.
function above(list, value) {
  let low = 0, high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle] > value) high = middle
    else low = middle + 1
  }
  return low
}
// An element with a class and a text, or children.
function make(tag, kind, ...content) {
  const element = document.createElement(tag)
  if (kind) element.className = kind
  element.append(...content)
  return element
}
// A button with a text and what it does.
function button(text, title, act) {
  const element = make('button', '', text)
  element.type = 'button'
  element.title = title
  element.addEventListener('click', act)
  return element
}

// A click on a heading sorts its table: numbers first from the largest, texts from A.
document.querySelectorAll("table.sort").forEach(function (table) {
  var body = table.tBodies[0];
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, place) {
    if (!head.textContent) return;
    var button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by " + head.textContent;
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var down = head.getAttribute("aria-sort") === "descending" || head.className !== "n" && !head.hasAttribute("aria-sort");
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort") });
      head.setAttribute("aria-sort", down ? "ascending" : "descending");
      var key = function (row) {
        var cell = row.cells[place];
        return cell.hasAttribute("data-v") ? +cell.getAttribute("data-v") : cell.textContent.trim()
      };
      Array.prototype.slice.call(body.rows).sort(function (one, two) {
        var a = key(one), b = key(two), order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
        return down ? order : -order
      }).forEach(function (row) { body.appendChild(row) })
    })
  })
});

// Filter by label and sort by P(true). Without this script all answers stand in the file's order.
const list = document.getElementById("answers");
const answers = [...list.children];
const boxes = [...document.querySelectorAll("#controls input")];
const order = document.getElementById("order");
const shown = document.getElementById("shown");

function choose() {
  const wanted = boxes.filter((box) => box.checked).map((box) => box.value);
  let count = 0;
  for (const answer of answers) {
    const labels = answer.dataset.labels.split(" ");
    answer.hidden = wanted.length > 0 && !wanted.some((label) => labels.includes(label));
    count += !answer.hidden;
  }
  shown.textContent = `${count} of ${answers.length} shown`;
}

function sort() {
  const by = order.value;
  const sorted = [...answers];
  const score = (answer) => (answer.dataset.score === "" ? null : Number(answer.dataset.score));
  if (by !== "file") {
    const sign = by === "lowest" ? 1 : -1;
    sorted.sort((a, b) => {
      const [one, other] = [score(a), score(b)];
      if (one === null || other === null) return (one === null) - (other === null); // unknown last
      return sign * (one - other);
    });
  }
  for (const answer of sorted) list.append(answer); // all at once may be more than a call can take
}

for (const box of boxes) box.addEventListener("change", choose);
order.addEventListener("change", sort);
document.getElementById("controls").hidden = false;
choose();

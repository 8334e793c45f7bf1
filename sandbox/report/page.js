// Filters the events of a workload, and opens the story that a link leads to. Without it all of them are shown.
"use strict";

for (const form of document.querySelectorAll("form.filter")) {
  const workload = form.closest(".workload");
  const stories = [...workload.querySelectorAll(".events > li")];
  const searched = new Map(stories.map((story) => [story, story.textContent.toLowerCase()]));

  const all = `${stories.length} event${stories.length === 1 ? "" : "s"}`;

  const filter = () => {
    const wanted = new FormData(form);
    const words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const story of stories) {
      const fits = [...wanted].every(([name, value]) => name === "text" || !value || story.dataset[name] === value);
      story.hidden = !(fits && words.every((word) => searched.get(story).includes(word)));
      shown += !story.hidden;
    }
    form.querySelector("output").value = shown === stories.length ? all : `${shown} of ${all}`;
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter(); // a browser may have kept what was typed before

  for (const button of workload.querySelectorAll("button[data-kind]")) {
    button.addEventListener("click", () => {
      if (form.elements.kind) form.elements.kind.value = button.dataset.kind;
      filter();
      form.scrollIntoView();
      form.elements.text.focus({ preventScroll: true });
    });
  }
}

const open = () => {
  const story = document.getElementById(location.hash.slice(1));
  if (!story || !story.closest(".events")) return;
  story.hidden = false;
  story.querySelector("details").open = true;
  story.scrollIntoView();
};
addEventListener("hashchange", open);
open();

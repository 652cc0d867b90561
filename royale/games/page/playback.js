// The controls of a replay: a slider over its turns, buttons, keys, and playing by the clock.

// unit: what a step is called; speeds: [[steps a second, label], ...], the second chosen.
export function controls(unit, speeds) {
  const Unit = unit[0].toUpperCase() + unit.slice(1);
  const options = speeds.map(
    ([value, label], k) => `<option value="${value}"${k === 1 ? " selected" : ""}>${label}</option>`,
  );
  return `
    <input type="range" class="slider" min="0" value="0" aria-label="${Unit}">
    <div class="buttons" role="group" aria-label="Playback">
      <button class="first" aria-label="First ${unit}">|◀</button>
      <button class="back" aria-label="One ${unit} back">◀</button>
      <button class="main play">Play</button>
      <button class="on" aria-label="One ${unit} on">▶</button>
      <button class="last" aria-label="Last ${unit}">▶|</button>
      <label>Speed <select class="speed">${options.join("")}</select></label>
    </div>`;
}

// Bring the controls in `root` to life. render(turn) draws; it is called now and at every change.
export class Playback {
  constructor(root, unit, end, render) {
    const find = (name) => root.querySelector(`.${name}`);
    Object.assign(this, { unit, end, draw: render, timer: null });
    this.slider = find("slider");
    this.speed = find("speed");
    this.button = find("play");
    this.slider.max = end;
    const steps = {
      first: () => this.go(0),
      back: () => this.go(this.turn - 1),
      on: () => this.go(this.turn + 1),
      last: () => this.go(end),
      play: () => this.play(),
    };
    for (const [name, act] of Object.entries(steps)) find(name).addEventListener("click", act);
    this.slider.addEventListener("input", () => this.render());
    this.speed.addEventListener("change", () => {
      if (this.timer === null) return;
      this.halt();
      this.play();
    });
    const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play" };
    this.onKey = (event) => {
      const name = keys[event.key];
      // A select, a button and the slider have keys of their own.
      if (!name || event.target.matches?.("select, input, textarea")) return;
      if (event.key === " " && event.target.matches?.("button, summary")) return;
      steps[name]();
      event.preventDefault();
    };
    document.addEventListener("keydown", this.onKey);
    this.render();
  }

  get turn() {
    return Number(this.slider.value);
  }

  render() {
    this.draw(this.turn);
    this.slider.setAttribute("aria-valuetext", `${this.unit} ${this.turn}`);
    this.button.textContent = this.timer === null ? "Play" : "Stop";
  }

  go(turn) {
    this.slider.value = turn;
    this.render();
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
  }

  play() {
    const playing = this.timer !== null;
    this.halt();
    if (!playing) {
      if (this.turn >= this.end) this.slider.value = 0;
      this.timer = setInterval(() => {
        if (this.turn >= this.end - 1) this.halt();
        this.go(this.turn + 1);
      }, 1000 / Number(this.speed.value));
    }
    this.render();
  }

  // Stop for good.
  close() {
    this.halt();
    document.removeEventListener("keydown", this.onKey);
  }
}

// Colours of the one-line diagram: by the run at the instant of the slider, or by what is chosen instead.
// Called with: slider, play, choice, told, frames, voltage, flow, nodes, branches, arrows, attached, scales, layers.
const GREY = "#c4c4c4"
const k = Math.round(slider.value)
const chosen = choice.options.findIndex(([value]) => value == choice.value)
const show = ([scale, bar], form) => {
  bar.visible = form != null
  if (form != null) {
    scale.setv({low: form.low, high: form.high, palette: form.palette})
    bar.title = form.title
  }
}
const colour = ([scale], value) => {
  if (value == null || Number.isNaN(value)) return GREY
  const {low, high, palette} = scale
  const place = Math.floor((value - low) / (high - low) * palette.length)
  return palette[Math.max(0, Math.min(palette.length - 1, place))]
}
const written = (value, unit) => value == null || Number.isNaN(value) ? "" : `${Number(value.toPrecision(4))} ${unit}`
const fill = (source, scale, values, unit) => {
  source.data.colour = values.map((value) => colour(scale, value))
  source.data.text = values.map((value) => written(value, unit))
  source.change.emit()
}
const ink = (colour) => {  // what is read on it
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
  return 0.3 * red + 0.6 * green + 0.1 * blue < 115 ? "#ffffff" : "#000000"
}
const cut = (source, width) => Array.from(source.data.value.slice(k * width, (k + 1) * width))

const {forms, values} = JSON.parse(layers)[chosen]
const running = values == null
slider.visible = play.visible = running
show(scales[0], forms[0])
show(scales[1], forms[1])
const flows = running ? cut(flow, branches.get_length()) : values.branches
fill(nodes, scales[0], running ? cut(voltage, nodes.get_length()) : values.nodes, running ? "pu" : "")
nodes.data.ink = nodes.data.colour.map(ink)
nodes.change.emit()
fill(branches, scales[running ? 1 : 0], running ? flows.map(Math.abs) : flows, running ? "MW" : "")
arrows.data.alpha = flows.map((value) => running && Math.abs(value) > 0.5 ? 1 : 0)
arrows.data.angle = Array.from(arrows.data.along, (angle, n) => angle + (flows[n] < 0 ? Math.PI : 0))
arrows.change.emit()
if (running) {
  attached.data.colour = Array.from(attached.data.own)
  attached.data.text = attached.data.own.map(() => "")
  attached.change.emit()
} else {
  fill(attached, scales[0], values.attached, "")
}
told.text = running ? `${frames.data.t[k].toFixed(4)} s &nbsp; ${frames.data.said[k]}` : forms[0].title

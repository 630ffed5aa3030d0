/** What the colours of a heat map mean, as numbers beside a bar of them; and text in lines of a width. Pure. */
import { figureText } from "../../electron/words.ts";
import { decadeText, type Range, rangePlace } from "./scale.ts";

export interface LegendTick {
  /** 0 at the beginning of the bar, 1 at its end. */
  readonly place: number;
  readonly words: string;
}

/** How many numbers between both ends there is room for, and in which part of the magnitudes. */
interface Room {
  readonly most: number;
  readonly from: number;
  readonly to: number;
}

const WHOLE_BAR: Room = { most: 6, from: 0.17, to: 0.83 };
const HALF_BAR: Room = { most: 2, from: 0.25, to: 0.65 };

/** Numbers between both ends of a magnitude scale: decades of a logarithmic one, the middle of a linear one. */
function between({ low, high, log }: Range, most: number): readonly (readonly [value: number, words: string])[] {
  if (!log) return [[(low + high) / 2, figureText((low + high) / 2)]];
  const [from, to] = [Math.floor(Math.log10(low)) + 1, Math.ceil(Math.log10(high)) - 1];
  const step = Math.max(1, Math.ceil((to - from + 1) / most));
  const found: [number, string][] = [];
  for (let exponent = from; exponent <= to; exponent += step) found.push([10 ** exponent, decadeText(exponent)]);
  return found;
}

/**
 * The numbers along the bar of a range with `low` < `high`: both ends, and what has room between them. Magnitudes beyond an
 * end have its colour. `signed`: the bar runs from the negative to the positive high, with the low of both in the middle.
 */
export function legendTicks(range: Range, signed: boolean): readonly LegendTick[] {
  const { low, high } = range;
  const room = signed ? HALF_BAR : WHOLE_BAR;
  const inner = between(range, room.most)
    .map(([value, words]) => ({ place: rangePlace(range, value), words }))
    .filter(({ place }) => place >= room.from && place <= room.to);
  const ends = { low: `≤ ${figureText(low)}`, high: `≥ ${figureText(high)}` };
  if (!signed) return [{ place: 0, words: ends.low }, ...inner, { place: 1, words: ends.high }];
  const half = (sign: 1 | -1): readonly LegendTick[] =>
    inner.map(({ place, words }) => ({ place: 0.5 + (sign * place) / 2, words }));
  return [
    { place: 0, words: `≤ −${figureText(high)}` },
    ...half(-1)
      .map(({ place, words }) => ({ place, words: `−${words}` }))
      .reverse(),
    { place: 0.5, words: `± ${figureText(low)}` },
    ...half(1),
    { place: 1, words: ends.high },
  ];
}

/** `text` in lines of at most `width`, as `measure` has it; words that are wider alone are cut where they end. */
export function wrapped(text: string, width: number, measure: (text: string) => number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (measure(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (measure(line) > width && line.length > 1) {
      let end = line.length - 1;
      while (end > 1 && measure(line.slice(0, end)) > width) end--;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** A kernel source as lines of tokens to colour, and what the lint has to say on each. Pure. */
import { type Finding, type LintSource, lint } from "../../../kernels/lint.ts";

export type Tone = "comment" | "directive" | "keyword" | "number" | "attribute" | "plain";

export interface Piece {
  readonly tone: Tone;
  readonly text: string;
}

const PATTERN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|(?![\s\S])))|(?<directive>^[ \t]*#[^\n]*)|(?<attribute>\[\[[^\]\n]*\]\])|(?<keyword>\b(?:kernel|device|threadgroup|constant|thread|const|constexpr|static|inline|template|typename|struct|using|namespace|void|bool|int|uint|ushort|float|half|bfloat|float2|float4|half4|uint2|uint3|if|else|for|while|return|break|continue)\b)|(?<number>\b(?:0x[\da-fA-F]+|\d[\d.]*(?:e[+-]?\d+)?)[uUfFhH]*\b)/gm;

/** The lines of a source; a comment over several lines is one in each of them. */
export function sourceLines(text: string): readonly (readonly Piece[])[] {
  const lines: Piece[][] = [[]];
  const add = (tone: Tone, part: string): void => {
    part.split("\n").forEach((piece, index) => {
      if (index > 0) lines.push([]);
      if (piece !== "") lines.at(-1)!.push({ tone, text: piece });
    });
  };
  let at = 0;
  for (const match of text.matchAll(PATTERN)) {
    add("plain", text.slice(at, match.index));
    const [tone] = Object.entries(match.groups ?? {}).find(([, group]) => group !== undefined) ?? ["plain"];
    add(tone as Tone, match[0]);
    at = match.index + match[0].length;
  }
  add("plain", text.slice(at).replace(/\n$/, ""));
  return lines;
}

/** Findings of the lint on `path`, which is linted with everything that it is compiled with. */
export function findingsOn(path: string, sources: readonly LintSource[]): readonly Finding[] {
  return lint(sources).findings.filter((finding) => finding.path === path);
}

/** The lines on which kernels begin, by name. */
export function kernelLines(text: string): readonly { readonly name: string; readonly line: number }[] {
  return [...text.matchAll(/^[ \t]*(?:\[\[[^\]]*\]\]\s*)*kernel\s+void\s+(\w+)/gm)].map((match) => ({
    name: match[1]!,
    line: text.slice(0, match.index).split("\n").length,
  }));
}

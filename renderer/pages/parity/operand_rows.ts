/** The operands of an element as the rows of a file: one number a row, named and numbered. Pure. */
import type { AnswerOf } from "../../../electron/analysis/messages.ts";

type Element = AnswerOf<"element">;

export const OPERAND_COLUMNS = ["what", "index", "f64", "f32"] as const;

/**
 * Rows of q and of the key at hand, then score, weight and value of each key of the window, then the softmax state.
 * Inputs stand in the column of f64, which holds them exactly; a field is empty where there is no such figure.
 */
export function* operandRows(element: Element): Iterable<readonly (string | number)[]> {
  for (const { name, values } of element.query) {
    for (let i = 0; i < values.length; i++) yield [name, i, values[i]!, ""];
  }
  for (const { name, values } of element.key?.parts ?? []) {
    const named = `${name} of key ${element.key?.term.key}`;
    for (let i = 0; i < values.length; i++) yield [named, i, values[i]!, ""];
  }
  const { begin } = element.window;
  for (let j = 0; j < element.scores.length; j++) {
    yield ["score", begin + j, element.scores[j]!, element.scores32[j]!];
  }
  for (let j = 0; j < element.weights.length; j++) {
    yield ["weight", begin + j, element.weights[j]!, element.weights32[j]!];
  }
  for (let j = 0; j < element.values.length; j++) yield ["v", begin + j, element.values[j]!, ""];
  for (const name of ["max", "sum", "lse", "rebuilt"] as const) yield [name, "", element[name].f64, element[name].f32];
  yield ["output", element.index, element.output, ""];
  yield ["oracle", element.index, element.oracle, ""];
}

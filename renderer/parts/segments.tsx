/** One choice of a few, as a row of pressed or unpressed buttons. */
import type { ReactElement } from "react";

interface SegmentsProps<Choice extends string> {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  /** The word on a choice; its own name by default. */
  readonly word?: (choice: Choice) => string;
  readonly onChoose: (choice: Choice) => void;
}

export function Segments<Choice extends string>(props: SegmentsProps<Choice>): ReactElement {
  const { label, choices, chosen, word = (choice: Choice) => choice, onChoose } = props;
  return (
    <fieldset className="seg" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice}
          type="button"
          className={choice === chosen ? "on" : ""}
          aria-pressed={choice === chosen}
          onClick={() => onChoose(choice)}
        >
          {word(choice)}
        </button>
      ))}
    </fieldset>
  );
}

/** The filter of a list; `/` goes to it, Escape clears it. */
import { type ReactElement, useRef } from "react";
import { useAction } from "../shell/actions.ts";
import { focusRevealed } from "../shell/drawer.ts";
import { Key } from "./button.tsx";

interface FilterFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly label: string;
}

export function FilterField({ value, onChange, label }: FilterFieldProps): ReactElement {
  const input = useRef<HTMLInputElement | null>(null);
  useAction("list.filter", () => focusRevealed(input.current));
  return (
    <label className="filter">
      <span className="sr">{label}</span>
      <input
        ref={input}
        type="text"
        placeholder="Filter"
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onChange("");
          event.currentTarget.blur();
        }}
      />
      <Key stroke="/" />
    </label>
  );
}

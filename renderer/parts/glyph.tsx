/** Verdict glyphs and icons by name. A glyph never stands without a word, beside it or for a screen reader. */
import type { ReactElement, ReactNode } from "react";
import type { GlyphName, IconName } from "./sprite.tsx";

interface GlyphProps {
  readonly name: GlyphName;
  readonly big?: boolean;
}

export function Glyph({ name, big = false }: GlyphProps): ReactElement {
  return (
    <svg className={`${big ? "big" : "g"} ${name}${name === "running" ? " spin" : ""}`} aria-hidden="true">
      <use href={`#g-${name}`} />
    </svg>
  );
}

export function Verdict({ name, children }: { readonly name: GlyphName; readonly children: ReactNode }): ReactElement {
  return (
    <span className={`v ${name}`}>
      <Glyph name={name} />
      {children}
    </span>
  );
}

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactElement {
  return (
    <svg width={size} height={size} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

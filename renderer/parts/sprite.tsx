/** The glyphs and icons, once in the page; `Glyph` and `Icon` refer to them. Each verdict has its own outline. */
import type { ReactElement, ReactNode } from "react";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.4,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const mark = { fill: "none", stroke: "var(--on-verdict)", strokeLinecap: "round", strokeLinejoin: "round" } as const;

/** Verdict glyphs: name -> drawing in a field of 16 x 16. */
const GLYPHS = {
  pass: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.8 8.3l2.2 2.2 4.2-4.6" {...mark} strokeWidth="1.8" />
    </>
  ),
  fail: (
    <>
      <path d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z" fill="currentColor" />
      <path d="M5.5 5.5l5 5m0-5l-5 5" {...mark} strokeWidth="1.8" />
    </>
  ),
  notrun: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="2.6 2.27" />
      <path d="M8 4.6v4.2" {...line} strokeWidth="1.8" />
      <circle cx="8" cy="11.2" r="1.05" fill="currentColor" />
    </>
  ),
  timedout: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M8 4.5V8l2.4 1.6" {...line} strokeWidth="1.5" />
    </>
  ),
  ambig: (
    <>
      <path d="M8 .8L15.2 8 8 15.2.8 8z" fill="currentColor" />
      <path d="M4.9 8.7c1-1.6 2.2-1.2 3.1-.7s2.1.9 3.1-.7" {...mark} strokeWidth="1.6" />
    </>
  ),
  crash: (
    <>
      <path d="M8 .9l7.4 13.6H.6z" fill="currentColor" />
      <path d="M9 4.9L6.6 9.1h2.8L7.4 12.8" {...mark} strokeWidth="1.3" />
    </>
  ),
  cancel: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="2" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M4.6 8h6.8" {...line} strokeWidth="1.8" />
    </>
  ),
  blocked: (
    <>
      <rect x="3" y="7" width="10" height="7.5" rx="1.5" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2" fill="none" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.6" opacity=".28" />
      <path d="M8 1.8A6.2 6.2 0 0 1 14.2 8" {...line} strokeWidth="1.9" />
    </>
  ),
  queued: <circle cx="8" cy="8" r="2" fill="currentColor" />,
} as const satisfies Readonly<Record<string, ReactNode>>;

export type GlyphName = keyof typeof GLYPHS;

const ICONS = {
  device: <path d="M4 4h8v8H4zM6.5 1.5V4m3-2.5V4m-3 8v2.5m3-2.5v2.5M1.5 6.5H4m-2.5 3H4m8-3h2.5m-2.5 3h2.5" {...line} />,
  dispatch: (
    <path d="M2 8h3.5m0 0c3 0 2-4.5 5-4.5H14m-8.5 4.5c3 0 2 4.5 5 4.5H14M12 1.5l2 2-2 2m0 5l2 2-2 2" {...line} />
  ),
  run: <path d="M4.5 2.8v10.4L13 8z" {...line} />,
  parity: <path d="M2 6c2-2.6 4-2.6 6 0s4 2.6 6 0M2 11c2-2.6 4-2.6 6 0s4 2.6 6 0" {...line} />,
  captures: <path d="M2 13.5h12M3.5 11V8m3 3V4.5m3 6.5V6.5m3 4.5V2.5" {...line} />,
  fragments: (
    <>
      <path d="M2.2 2.2h11.6v11.6H2.2zM2.2 8h11.6M8 2.2v11.6" {...line} />
      <path d="M8 8h5.8v5.8H8z" fill="currentColor" opacity=".35" />
    </>
  ),
  evidence: <path d="M8 1.5l5.5 2v4c0 3.6-2.3 5.9-5.5 7-3.2-1.1-5.5-3.4-5.5-7v-4zM5.5 8l1.8 1.8 3.2-3.5" {...line} />,
  kernels: <path d="M5.5 4L2 8l3.5 4m5-8L14 8l-3.5 4M9 2.8L7 13.2" {...line} />,
  gates: <path d="M4.5 1.5v13m7-13v13m-7-10.5h7m-7 4h7m-7 4h7" {...line} />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" {...line} />
      <path d="M10.5 10.5L14 14" {...line} />
    </>
  ),
  left: <path d="M10 3L5 8l5 5" {...line} strokeWidth={1.5} />,
  right: <path d="M6 3l5 5-5 5" {...line} strokeWidth={1.5} />,
  close: <path d="M4 4l8 8m0-8l-8 8" {...line} strokeWidth={1.5} />,
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" {...line} strokeWidth={1.3} />,
  settings: (
    <path
      d="M2 4.5h5m4 0h3M2 11.5h2.5m4 0H14M11 4.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0M8.2 11.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0"
      {...line}
    />
  ),
  drawer: <path d="M2 3h12v10H2zM9.5 3v10M11.3 6h1.2m-1.2 2h1.2" {...line} strokeWidth={1.3} />,
  theme: (
    <>
      <circle cx="8" cy="8" r="6" {...line} />
      <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
    </>
  ),
} as const satisfies Readonly<Record<string, ReactNode>>;

export type IconName = keyof typeof ICONS;

export function Sprite(): ReactElement {
  return (
    <svg width="0" height="0" className="sprite" aria-hidden="true">
      {Object.entries(GLYPHS).map(([name, drawing]) => (
        <symbol key={name} id={`g-${name}`} viewBox="0 0 16 16">
          {drawing}
        </symbol>
      ))}
      {Object.entries(ICONS).map(([name, drawing]) => (
        <symbol key={name} id={`i-${name}`} viewBox="0 0 16 16">
          {drawing}
        </symbol>
      ))}
    </svg>
  );
}

/** Finds items by words: every word must stand somewhere in the text, in any order. Pure. */

export interface MatchPart {
  readonly text: string;
  readonly hit: boolean;
}

export interface Match {
  test(text: string): boolean;
  /** A text cut at the places that matched. */
  parts(text: string): readonly MatchPart[];
}

export function matchWords(query: string): Match {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return {
    test: (text) => {
      const lower = text.toLowerCase();
      return words.every((word) => lower.includes(word));
    },
    parts: (text) => {
      const lower = text.toLowerCase();
      const hit = new Array<boolean>(text.length).fill(false);
      for (const word of words) {
        const at = lower.indexOf(word);
        if (at >= 0) hit.fill(true, at, at + word.length);
      }
      const parts: { text: string; hit: boolean }[] = [];
      for (let index = 0; index < text.length; index++) {
        const last = parts.at(-1);
        if (last !== undefined && last.hit === hit[index]) last.text += text[index];
        else parts.push({ text: text[index]!, hit: hit[index]! });
      }
      return parts;
    },
  };
}

/** A button that does an action of the registry, with its key shown; and the key by itself. */
import type { ReactElement, ReactNode } from "react";
import { firstKey, perform } from "../shell/actions.ts";
import { isMac, isSingle, keyLabel } from "../shell/keys.ts";

const MAC = isMac(navigator.platform);

export function Key({ stroke }: { readonly stroke: string }): ReactElement {
  return <kbd className={isSingle(stroke) ? "single" : undefined}>{keyLabel(stroke, MAC)}</kbd>;
}

interface ActionButtonProps {
  readonly action: string;
  readonly children: ReactNode;
  readonly look?: "plain" | "primary" | "quiet";
  readonly large?: boolean;
  readonly disabled?: boolean;
  readonly title?: string;
}

export function ActionButton(props: ActionButtonProps): ReactElement {
  const { action, children, look = "plain", large = false, disabled = false, title } = props;
  const stroke = firstKey(action);
  const classes = ["btn", look === "primary" ? "pri" : look === "quiet" ? "quiet" : "", large ? "lg" : ""];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(" ")}
      disabled={disabled}
      title={title}
      data-action={action}
      onClick={() => perform(action)}
    >
      {children}
      {stroke === undefined ? null : <Key stroke={stroke} />}
    </button>
  );
}

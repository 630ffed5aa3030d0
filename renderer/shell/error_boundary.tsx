/** A page that breaks says so in its place; the rest of the window goes on. */
import { Component, type ReactNode } from "react";
import { Empty } from "../parts/pane.tsx";

interface ErrorBoundaryProps {
  readonly children: ReactNode;
  readonly page: string;
}

interface ErrorBoundaryState {
  readonly error: Error | undefined;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: undefined };

  static getDerivedStateFromError(error: unknown): ErrorBoundaryState {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Empty title={`The page ${this.props.page} stopped`}>
        <p className="note fail" role="alert">
          {error.message}
        </p>
        <p className="t2 after">Runs and bundles are not touched by this. The other pages still work.</p>
        <button type="button" className="btn pri lg" onClick={() => this.setState({ error: undefined })}>
          Show the page again
        </button>
      </Empty>
    );
  }
}

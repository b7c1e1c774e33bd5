import { Component, type ReactNode } from 'react';
import { problemOf } from '../graph/problem';
import { Failure } from './parts';

/** Keeps the failure of a view from taking the page down. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="page">
        <Failure problem={problemOf(this.state.error)} retry={() => location.reload()} />
      </div>
    );
  }
}

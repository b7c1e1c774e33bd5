import { Component, type ReactNode } from 'react';
import { problemOf } from '../graph/problem';
import { Failure } from './parts';

interface Props {
  /** The address of what is shown. Another address is tried anew. */
  place?: string;
  children: ReactNode;
}

/** Keeps the failure of a view from taking the page down. */
export class Boundary extends Component<Props, { error: unknown; place?: string }> {
  state = { error: null as unknown, place: this.props.place };

  static getDerivedStateFromProps({ place }: Props, state: { place?: string }) {
    return place === state.place ? null : { error: null, place };
  }

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

import { Component, type ReactNode } from 'react';
import { problemOf } from '../graph/problem';
import { Failure } from './parts';
import { forgetFailedParts } from './part';

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

  tryAgain = () => {
    forgetFailedParts();
    this.setState({ error: null });
  };

  render() {
    if (this.state.error === null) return this.props.children;
    const problem = problemOf(this.state.error);
    return (
      <div className="page">
        {this.props.place !== undefined && <h1 className="visually-hidden">{problem.title}</h1>}
        <Failure problem={problem} retry={this.tryAgain} more={problem.code === 'NOT_LOADED' && <button type="button" onClick={() => location.reload()}>Load the page again</button>} />
      </div>
    );
  }
}

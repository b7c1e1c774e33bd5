import type { Props } from './Explore';

/** What stands for the editor where the server takes no texts. */
export default function Closed({ shown }: Props) {
  return (
    <div className="page" hidden={!shown}>
      <h1>Explore</h1>
      <p>This instance runs stored documents only: its graph takes no queries as texts, so it has no editor. The page works as always: its own operations are stored documents.</p>
      <p className="notice">To write queries, ask who runs simgraph for an instance without this limit. How documents are stored: <a href="/docs/documents">Trusted documents</a>.</p>
    </div>
  );
}

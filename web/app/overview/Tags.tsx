import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { count } from '../format/units';
import { Answered, Empty, Panel } from '../shell/parts';
import { toSubscribers } from '../shell/route';

const query = graphql('query Tags { tags(first: 40) { nodes { name numberOfSubscribers } totalCount } }');

/** The tags, each leading to the subscribers that carry it. */
export function Tags() {
  const asked = useAsk(query);
  const total = asked.data?.tags?.totalCount;
  return (
    <Panel id="tags" title="Tags" aside={typeof total === 'number' && <span className="hint">{count(total)}</span>}>
      <Answered asked={asked} of={({ tags }) => tags} label="Reading tags" rows={2}>
        {(tags) =>
          tags.nodes.length === 0 ? (
            <Empty>No subscriber carries a tag yet. Open one and add the first.</Empty>
          ) : (
            <ul className="chips">
              {tags.nodes.map((tag) => (
                <li key={tag.name}>
                  <a className="chip" href={toSubscribers({ tag: tag.name })}>
                    {tag.name} {tag.numberOfSubscribers !== null && <span>{count(tag.numberOfSubscribers)}</span>}
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Panel>
  );
}

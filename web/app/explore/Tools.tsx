import { pick, ToolbarButton, ToolbarMenu, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { Link } from '../shell/icons';
import { languages } from './code';
import { linkTo, type Shared } from './share';

function useShared(): () => Shared {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  return () => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' });
}

/** Copies a link that opens this query, without the token. */
export function Share() {
  const shared = useShared();
  const [said, setSaid] = useState('');
  const share = async () => {
    const link = await linkTo(shared());
    await navigator.clipboard.writeText(link).then(
      () => setSaid('Link copied'),
      () => history.replaceState(null, '', link),
    );
    setTimeout(() => setSaid(''), 2500);
  };
  return (
    <>
      <ToolbarButton label="Copy a link to this query (without the token)" onClick={() => void share()}>
        <Link />
      </ToolbarButton>
      <span className="said" role="status">{said}</span>
    </>
  );
}

/** Copies this query as code. */
export function TakeAway() {
  const shared = useShared();
  return (
    <ToolbarMenu button={<ToolbarButton label="Copy as code"><span className="code-mark" aria-hidden="true">{'</>'}</span></ToolbarButton>}>
      {languages.map(({ name, write }) => (
        <ToolbarMenu.Item key={name} onSelect={() => void navigator.clipboard.writeText(write(shared()))}>
          Copy as {name}
        </ToolbarMenu.Item>
      ))}
    </ToolbarMenu>
  );
}

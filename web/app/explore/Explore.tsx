import './workers';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useLayoutEffect } from 'react';
import { useTheme } from '../shell/theme';
import '@graphiql/react/style.css';
import 'graphiql/graphiql.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-explorer/style.css';
import '../styles/explore.css';
import { first } from './examples';
import { examplesPlugin } from './ExamplesPlugin';
import { fetcher } from './fetcher';
import { useOpen } from './open';
import { Ranges } from './Ranges';
import { ResultPanel } from './ResultPanel';
import { follow } from './results';
import { readLink } from './share';
import { storage } from './storage';
import { Share, TakeAway } from './Tools';

const plugins = [examplesPlugin, explorerPlugin({ showAttribution: false }), HISTORY_PLUGIN];

export interface Props {
  shown: boolean;
  /** A query out of a share link. */
  shared: string | null;
}

/** The editor with the schema, ready questions, history, and a chart of the answer. */
export default function Explore({ shown, shared }: Props) {
  const theme = useTheme();
  return (
    <div className="explore" hidden={!shown}>
      <h1 className="visually-hidden">Explore the graph</h1>
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        plugins={plugins}
        visiblePlugin={examplesPlugin}
        forcedTheme={theme}
        defaultQuery={first}
        onTabChange={({ tabs, activeTabIndex }) => follow(tabs[activeTabIndex]?.id)}
        isHeadersEditorEnabled={false}
        showPersistHeadersSettings={false}
        defaultEditorToolsVisibility="variables"
        inputValueDeprecation
      >
        <GraphiQL.Logo>{null}</GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ prettify, copy, merge }) => (
            <>
              {prettify}
              {merge}
              {copy}
              <Share />
              <TakeAway />
            </>
          )}
        </GraphiQL.Toolbar>
        <GraphiQL.Footer>
          <Results theme={theme} shared={shared} />
        </GraphiQL.Footer>
      </GraphiQL>
    </div>
  );
}

/** What stands below the answer, and keeps the editor in step with the page. */
function Results({ theme, shared }: { theme: 'light' | 'dark'; shared: string | null }) {
  const { tabs, activeTabIndex, queryEditor } = useGraphiQL(pick('tabs', 'activeTabIndex', 'queryEditor'));
  const { setTheme } = useGraphiQLActions();
  const open = useOpen();
  const id = tabs[activeTabIndex]?.id ?? '';
  useLayoutEffect(() => follow(id), [id]);
  useEffect(() => {
    if (queryEditor) setTheme(theme);
  }, [theme, queryEditor, setTheme]);
  useEffect(() => {
    if (!shared || !queryEditor) return;
    void readLink(shared).then((found) => {
      history.replaceState(null, '', '#/explore');
      if (found) open(found);
    });
    // open changes with the editors; a link is taken once.
  }, [shared, queryEditor]);
  return (
    <>
      <Ranges />
      <ResultPanel tab={id} />
    </>
  );
}

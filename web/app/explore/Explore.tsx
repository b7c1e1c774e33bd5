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
import { tab } from './results';
import { readLink } from './share';
import { storage } from './storage';
import { Share, TakeAway } from './Tools';

const plugins = [examplesPlugin, explorerPlugin({ showAttribution: false }), HISTORY_PLUGIN];

interface Props {
  shown: boolean;
  /** A query out of a share link. */
  shared: string | null;
}

/** The editor with the schema, ready questions, history, and a chart of the answer. */
export default function Explore({ shown, shared }: Props) {
  const theme = useTheme();
  return (
    <main className="explore" hidden={!shown} aria-label="Explore">
      <h1 className="visually-hidden">Explore the graph</h1>
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        plugins={plugins}
        visiblePlugin={examplesPlugin}
        forcedTheme={theme}
        defaultQuery={first}
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
    </main>
  );
}

/** What stands below the answer, and keeps the editor in step with the page. */
function Results({ theme, shared }: { theme: 'light' | 'dark'; shared: string | null }) {
  const { tabs, activeTabIndex, monaco } = { ...useGraphiQL(pick('tabs', 'activeTabIndex', 'queryEditor')), monaco: useGraphiQL((state) => state.queryEditor) };
  const { setTheme } = useGraphiQLActions();
  const open = useOpen();
  const id = tabs[activeTabIndex]?.id ?? '';
  useLayoutEffect(() => {
    tab.current = id;
  }, [id]);
  useEffect(() => {
    if (monaco) setTheme(theme);
  }, [theme, monaco, setTheme]);
  useEffect(() => {
    if (!shared || !monaco) return;
    void readLink(shared).then((found) => {
      history.replaceState(null, '', '#/explore');
      if (found) open(found);
    });
    // open changes with the editors; a link is taken once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [shared, monaco]);
  return (
    <>
      <Ranges />
      <ResultPanel tab={id} />
    </>
  );
}

import { useEffect, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useAsk, useSettled } from '../graph/use';
import { useSubscribers } from '../overview/SearchBox';
import { type Choice, type Found, Search, shortest } from '../ui/Search';
import { Dialog } from './Dialog';
import { Search as Magnifier } from './icons';
import { placeGroups } from './places';
import { to } from './route';
import { useMay } from './viewer';

const isMac = /mac|iphone|ipad/i.test(navigator.platform);

/** The search for places and subscribers, also by Cmd-K or Ctrl-K. */
export function Finder() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey || !(isMac ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      setOpen((open) => open || document.querySelector('dialog[open]') === null);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button type="button" className="finder-button" aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'} onClick={() => setOpen(true)}>
        <Magnifier />
        <span>Search</span>
        <kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {open && (
        <Dialog title="Search" className="finder" passing cancel={() => setOpen(false)}>
          <Search autoFocus label="Search everything" placeholder="A place, ICCID, MSISDN, EUI, IMSI or nickname" list="Found" none="Nothing fits." useFound={useEverything} chosen={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

const questions = graphql(`query QuestionsLike($text: String!) { company {
  questions(first: 5, filter: { name: { like: $text } }) { nodes { questionId name folder } }
  dashboards(first: 5, filter: { name: { like: $text } }) { nodes { dashboardId name folder } }
} }`);

/** The places, the kept dashboards and questions, and the subscribers that fit the text. */
function useEverything(text: string): Found {
  const { found, problem } = useSubscribers(text);
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const settled = useSettled(text, 150);
  const { data } = useAsk(may && settled.length >= shortest ? questions : null, { text: settled });
  const kept = (data?.company?.questions?.nodes ?? []).map(({ questionId, name, folder }): Choice => ({
    key: questionId, href: `/${to('usage', { question: questionId })}`, name, note: folder ? `Question in ${folder}` : 'Question',
  }));
  const boards = (data?.company?.dashboards?.nodes ?? []).map(({ dashboardId, name, folder }): Choice => ({
    key: dashboardId, href: `/${to('dashboard', {}, dashboardId)}`, name, note: folder ? `Dashboard in ${folder}` : 'Dashboard',
  }));
  return { found: found && [...placesLike(text), ...boards, ...kept, ...found], problem };
}

const placesLike = (text: string): Choice[] =>
  placeGroups.flatMap(({ name: group, places }) =>
    places.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())).map(({ name, href }) => ({ key: href, href, name, note: group })));

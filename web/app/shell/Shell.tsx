import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Overview } from '../overview/Overview';
import { SubscriberPage } from '../overview/SubscriberPage';
import { Subscribers } from '../overview/Subscribers';
import { useSession } from '../session';
import { Sources } from '../sources/Sources';
import { Bar } from './Bar';
import { Boundary } from './Boundary';
import { OfferedSession } from './OfferedSession';
import { Loading } from './parts';
import { placesAt } from './places';
import { type Route, useRoute } from './route';
import { SignIn } from './SignIn';
import { UndoBar } from './UndoBar';
import { SignedIn } from './viewer';

const Explore = lazy(() => import('../explore/Explore'));

/** The page: a bar, and the view that the address names. */
export function Shell() {
  const { token, notice, offered, awaiting } = useSession();
  const route = useRoute();
  useTitle(token === null ? 'Sign in' : titleOf(route));
  if (awaiting) return null;
  if (token === null) return <SignIn notice={notice} />;
  return (
    <SignedIn key={token}>
      {(viewer) => (
        <>
          <Bar places={placesAt(placeOf[route.view])} viewer={viewer} />
          {viewer && <Main route={route}><Views route={route} /></Main>}
          {viewer && <UndoBar />}
          {viewer && offered !== null && <OfferedSession token={offered} email={viewer.email} />}
        </>
      )}
    </SignedIn>
  );
}

const placeOf = { overview: 'Overview', subscribers: 'Subscribers', subscriber: 'Subscribers', sources: 'Sources', explore: 'Explore', unknown: null };

/** Holds the view. It gets the focus when another view is shown, as a new document would. */
function Main({ route, children }: { route: Route; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const place = `${route.view}/${route.physicalId}`;
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current === place) return;
    shown.current = place;
    main.current!.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [place]);
  return <main ref={main} tabIndex={-1} aria-label={titleOf(route)}>{children}</main>;
}

function Views({ route }: { route: Route }) {
  const exploring = route.view === 'explore';
  // The editor is heavy: once opened it stays, with what was typed and answered.
  const [opened, setOpened] = useState(exploring);
  useEffect(() => {
    if (exploring) setOpened(true);
  }, [exploring]);
  return (
    <>
      {(opened || exploring) && (
        <Boundary>
          <Suspense fallback={exploring && <div className="page"><Loading label="Opening the editor" /></div>}>
            <Explore shown={exploring} shared={exploring ? route.params.get('query') : null} />
          </Suspense>
        </Boundary>
      )}
      {!exploring && <Boundary key={`${route.view}/${route.physicalId}`}><View route={route} /></Boundary>}
    </>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case 'subscribers':
      return <Subscribers params={route.params} />;
    case 'subscriber':
      return <SubscriberPage physicalId={route.physicalId} />;
    case 'sources':
      return <Sources />;
    case 'overview':
      return <Overview />;
    default:
      return <Unknown />;
  }
}

/** Shown at an address that leads nowhere. */
const Unknown = () => (
  <div className="page">
    <h1>There is no such place</h1>
    <p>No view of this page has the address <code>{location.hash}</code>. Go to the <a href="#/">overview</a> or to the <a href="#/subscribers">subscribers</a>.</p>
  </div>
);

const titles = { overview: 'Overview', subscribers: 'Subscribers', sources: 'Sources', explore: 'Explore', unknown: 'Not found' };
const titleOf = (route: Route) => (route.view === 'subscriber' ? `Subscriber ${route.physicalId}` : titles[route.view]);

function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · simgraph`;
  }, [title]);
}

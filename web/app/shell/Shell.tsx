import { type ComponentType, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { readOffer } from '../graph/offer';
import { Overview } from '../overview/Overview';
import { useSession } from '../session';
import { Bar } from './Bar';
import { Boundary } from './Boundary';
import { LeaveQuestion } from './LeaveQuestion';
import { Connection } from './Connection';
import { part } from './part';
import { Loading } from './parts';
import { type Route, useRoute, type View as ViewName } from './route';
import { UndoBar } from './UndoBar';
import { SignedIn } from './viewer';

// Who is signed in sees these rarely.
const SignIn = part(async () => ({ default: (await import('./SignIn')).SignIn }));
const SignInAgain = part(async () => ({ default: (await import('./SignInAgain')).SignInAgain }));
const LinkSignIn = part(async () => ({ default: (await import('./LinkSignIn')).LinkSignIn }));
const OfferedSession = part(async () => ({ default: (await import('./OfferedSession')).OfferedSession }));
const Explore = part(async () => ((await readOffer()).documentsOnly ? import('../explore/Closed') : import('../explore/Explore')));

interface Shown {
  title: string | ((id: string) => string);
  /** The place of the side bar. */
  place: string;
  view: ComponentType<{ id: string; params: URLSearchParams }>;
}

// What the overview does not need is loaded when it is opened.
const views: Record<Exclude<ViewName, 'explore'>, Shown> = {
  overview: { title: 'Overview', place: 'Overview', view: Overview },
  subscribers: { title: 'Subscribers', place: 'Subscribers', view: part(() => import('../subscribers/Subscribers')) },
  subscriber: { title: (id) => `Subscriber ${id}`, place: 'Subscribers', view: part(() => import('../overview/SubscriberPage')) },
  alerts: { title: 'Alerts', place: 'Alerts', view: part(() => import('../alerts/Alerts')) },
  alertLog: { title: 'Alert log', place: 'Log', view: part(() => import('../alerts/AlertLog')) },
  conditions: { title: 'Conditions', place: 'Alerts', view: part(() => import('../alerts/Conditions')) },
  silences: { title: 'Silences', place: 'Silences', view: part(() => import('../alerts/Silences')) },
  recipients: { title: 'Recipients', place: 'Alerts', view: part(() => import('../alerts/Recipients')) },
  webhooks: { title: 'Webhooks', place: 'Alerts', view: part(() => import('../alerts/Webhooks')) },
  newAlert: { title: 'New alert', place: 'Alerts', view: part(() => import('../alerts/NewAlert')) },
  alert: { title: (id) => `Alert ${id}`, place: 'Alerts', view: part(() => import('../alerts/AlertPage')) },
  groups: { title: 'Groups', place: 'Groups', view: part(() => import('../groups/Groups')) },
  group: { title: (id) => `Group ${id}`, place: 'Groups', view: part(() => import('../groups/GroupPage')) },
  tags: { title: 'Tags', place: 'Tags', view: part(() => import('../tags/Tags')) },
  tag: { title: (id) => `Tag ${id}`, place: 'Tags', view: part(() => import('../tags/TagPage')) },
  users: { title: 'Users', place: 'Users', view: part(() => import('../users/Users')) },
  keys: { title: 'Access keys', place: 'Users', view: part(() => import('../users/Keys')) },
  documents: { title: 'Trusted documents', place: 'Users', view: part(() => import('../users/Documents')) },
  operations: { title: 'Operations', place: 'Operations', view: part(() => import('../operations/Operations')) },
  newOperation: { title: 'Change by a file', place: 'Operations', view: part(() => import('../operations/NewOperation')) },
  operation: { title: 'Operation', place: 'Operations', view: part(() => import('../operations/OperationPage')) },
  usage: { title: 'Usage', place: 'Usage', view: part(() => import('../usage/Usage')) },
  dashboards: { title: 'Dashboards', place: 'Dashboards', view: part(() => import('../dashboards/Dashboards')) },
  dashboard: { title: 'Dashboard', place: 'Dashboards', view: part(() => import('../dashboards/DashboardPage')) },
  audit: { title: 'Audit', place: 'Audit', view: part(() => import('../audit/Audit')) },
  sources: { title: 'Sources', place: 'Sources', view: part(() => import('../sources/Sources')) },
  connect: { title: 'Connect', place: 'Sources', view: part(() => import('../sources/Connect')) },
  connectBy: { title: 'Connect', place: 'Sources', view: part(() => import('../sources/Connect')) },
  source: { title: (id) => `Source ${id}`, place: 'Sources', view: part(() => import('../sources/SourcePage')) },
  upstream: { title: () => 'Another account', place: 'Sources', view: part(() => import('../sources/UpstreamPage')) },
  sourceProfiles: { title: 'Profiles', place: 'Sources', view: part(() => import('../sources/Profiles')) },
  newSourceProfile: { title: 'New profile', place: 'Sources', view: part(() => import('../sources/ProfilePage')) },
  sourceProfile: { title: (id) => `Profile ${id}`, place: 'Sources', view: part(() => import('../sources/ProfilePage')) },
};

/** The page: a bar, and the view that the address names. */
export function Shell() {
  const { id, first, ended, notice, offered, link, awaiting } = useSession();
  const route = useRoute();
  useTitle(id === null || link !== null ? 'Sign in' : titleOf(route));
  if (awaiting) return null;
  if (link !== null) return <Boundary><Suspense><LinkSignIn key={link} code={link} signedIn={id !== null} /></Suspense></Boundary>;
  if (id === null) return <Boundary><Suspense><SignIn notice={notice} /></Suspense></Boundary>;
  return (
    <SignedIn key={first}>
      {(viewer) => (
        <>
          <Bar place={placeOf(route)} viewer={viewer} />
          {viewer && <Main route={route}><Views route={route} /></Main>}
          {viewer && <UndoBar />}
          {viewer && ended && <Boundary><Suspense><SignInAgain email={viewer.email} /></Suspense></Boundary>}
          <Connection />
          <LeaveQuestion />
          {viewer && offered !== null && <Boundary><Suspense><OfferedSession token={offered} email={viewer.email} /></Suspense></Boundary>}
        </>
      )}
    </SignedIn>
  );
}

const placeOf = ({ view }: Route) => (view === 'explore' ? 'Explore' : view === 'unknown' ? null : views[view].place);

/** Holds the view. It gets the focus when another view is shown, as a new document would. */
function Main({ route, children }: { route: Route; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const place = `${route.view}/${route.id}`;
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
      {!exploring && (
        <Boundary key={`${route.view}/${route.id}`} place={route.params.toString()}>
          <Suspense fallback={<div className="page"><Loading label="Opening" /></div>}><View route={route} /></Suspense>
        </Boundary>
      )}
    </>
  );
}

function View({ route: { view, id, params } }: { route: Route }) {
  if (view === 'unknown' || view === 'explore') return <Unknown />;
  const { view: Shown } = views[view];
  return <Shown id={id} params={params} />;
}

/** Shown at an address that leads nowhere. */
const Unknown = () => (
  <div className="page">
    <h1>There is no such place</h1>
    <p>No view of this page has the address <code>{location.hash}</code>. Go to the <a href="#/">overview</a> or to the <a href="#/subscribers">subscribers</a>.</p>
  </div>
);

function titleOf({ view, id }: Route): string {
  if (view === 'unknown') return 'Not found';
  if (view === 'explore') return 'Explore';
  const { title } = views[view];
  return typeof title === 'string' ? title : title(id);
}

function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · simgraph`;
  }, [title]);
}

import { lazy, Suspense, useEffect, useState } from 'react';
import { Overview } from '../overview/Overview';
import { SubscriberPage } from '../overview/SubscriberPage';
import { Subscribers } from '../overview/Subscribers';
import { useSession } from '../session';
import { Bar } from './Bar';
import { Boundary } from './Boundary';
import { Loading } from './parts';
import { type Route, useRoute } from './route';
import { SignIn } from './SignIn';
import { SignedIn } from './viewer';

const Explore = lazy(() => import('../explore/Explore'));

/** The page: a bar, and the view that the address names. */
export function Shell() {
  const { token, notice } = useSession();
  const route = useRoute();
  useTitle(route);
  const places = [
    { name: 'Overview', href: '/#/', current: route.view === 'overview' },
    { name: 'Subscribers', href: '/#/subscribers', current: route.view === 'subscribers' || route.view === 'subscriber' },
    { name: 'Explore', href: '/#/explore', current: route.view === 'explore' },
    { name: 'REST', href: '/docs', current: false },
  ];
  if (token === null) return <SignIn notice={notice} />;
  return (
    <SignedIn key={token}>
      {(viewer) => (
        <>
          <Bar places={places} viewer={viewer} />
          {viewer && <Views route={route} />}
        </>
      )}
    </SignedIn>
  );
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
          <Suspense fallback={exploring && <main className="page"><Loading label="Opening the editor" /></main>}>
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
    default:
      return <Overview />;
  }
}

const titles = { overview: 'Overview', subscribers: 'Subscribers', subscriber: 'Subscriber', explore: 'Explore' };

function useTitle(route: Route) {
  useEffect(() => {
    document.title = `${route.view === 'subscriber' ? route.physicalId : titles[route.view]} · simgraph`;
  }, [route]);
}

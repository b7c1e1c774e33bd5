import { createContext, type ReactNode, useContext, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { own, signOut } from '../session';
import { Failure, Loading } from './parts';

export interface Period {
  startsAt: string;
  endsAt: string;
}

export interface Viewer {
  email: string;
  permissions: string[];
  isRestricted: boolean;
  company: { name: string; externalId: string; timeZone: string; billingDay: number; currentPeriod: Period };
}

const query = graphql(`query Viewer {
  viewer { email permissions isRestricted company { name externalId timeZone billingDay currentPeriod { startsAt endsAt } } }
}`);

const Context = createContext<Viewer | null>(null);

/** Who is signed in. Only below SignedIn. */
export const useViewer = (): Viewer => useContext(Context)!;

/** The time zone in which the page shows times. Only below SignedIn. */
export const useZone = (): string => useViewer().company.timeZone;

/** Reports whether the caller has all of the permissions. */
export function useMay(...permissions: string[]): boolean {
  const { permissions: has } = useViewer();
  return permissions.every((permission) => has.includes(permission));
}

/** Shows its children once it is known who is signed in; a document is there before. */
export function SignedIn({ isDocument = false, children }: { isDocument?: boolean; children: (viewer: Viewer | null) => ReactNode }) {
  const { data, problem, reload } = useAsk(query);
  if (data?.viewer) return <Owner viewer={data.viewer}>{children(data.viewer)}</Owner>;
  if (isDocument) return children(null);
  return (
    <>
      {children(null)}
      <main className="page">
        {problem ? <Failure problem={problem} retry={reload} more={<button type="button" onClick={() => void signOut().catch(reload)}>Sign out</button>} /> : <Loading label="Reading your account" />}
      </main>
    </>
  );
}

/** Makes the drafts of the editor those of the viewer, before it is opened. */
function Owner({ viewer, children }: { viewer: Viewer; children: ReactNode }) {
  useState(() => own(viewer));
  return <Context value={viewer}>{children}</Context>;
}

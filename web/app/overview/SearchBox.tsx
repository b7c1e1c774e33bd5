import { graphql } from '../graph/graphql';
import { useAsk, useSettled } from '../graph/use';
import { toSubscriber, toSubscribers } from '../shell/route';
import { type Choice, type Found, Search, shortest } from '../ui/Search';

interface Subscriber {
  physicalId: string;
  subscriberId: string;
  nickname: string | null;
}

const whole = graphql(`query SearchWhole($text: String!) {
  subscribers(first: 8, filter: {or: [{physicalId: {eq: $text}}, {subscriberId: {eq: $text}}, {imsi: {eq: $text}}]}) { nodes { physicalId subscriberId nickname } pageInfo { hasNextPage } }
}`);
const query = graphql(`query Search($text: String!) {
  subscribers(first: 8, filter: {or: [
    {physicalId: {like: $text}}, {subscriberId: {like: $text}}, {nickname: {like: $text}}, {imsi: {like: $text}}
  ]}) { nodes { physicalId subscriberId nickname } pageInfo { hasNextPage } }
}`);

interface Page {
  nodes: Subscriber[];
  pageInfo: { hasNextPage: boolean };
}

const choices = ({ nodes, pageInfo }: Page, text: string): Choice[] => [
  ...nodes.map(({ physicalId, subscriberId, nickname }) => ({ key: physicalId, href: toSubscriber(physicalId), name: nickname || physicalId, note: `${physicalId} · ${subscriberId}` })),
  ...(pageInfo.hasNextPage ? [{ key: 'all', href: toSubscribers({ search: text }), name: '', note: 'Show all that fit' }] : []),
];

/** Whether a text can be a whole IMSI, EUI or ICCID, which an index finds at once. */
const isWhole = (text: string) => /^[\da-f]{15,20}$/i.test(text);

/** The subscriber with the identifier that the text is, or else those of which a name contains it. */
export function useSubscribers(text: string): Found {
  const wanted = useSettled(text, 200);
  const one = useAsk(isWhole(wanted) ? whole : null, { text: wanted });
  const isFound = !!one.data?.subscribers?.nodes.length;
  const misses = !isWhole(wanted) || (one.data && !isFound) || one.problem;
  const some = useAsk(misses && wanted.length >= shortest ? query : null, { text: wanted });
  const asked = isFound ? one : some;
  const found = wanted === text && asked.data?.subscribers ? choices(asked.data.subscribers, text) : undefined;
  return { found, problem: asked.problem };
}

/** Finds a subscriber by any of its names, as one types. */
export const SearchBox = () => (
  <Search label="Search subscribers" placeholder="ICCID, MSISDN, EUI, IMSI or nickname" list="Subscribers found" none="No subscriber fits." useFound={useSubscribers} />
);

// How GraphiQL sends operations. Every result is also kept for the chart.
import type { Fetcher, FetcherParams, Observable } from '@graphiql/toolkit';
import { type OperationDefinitionNode, parse } from 'graphql';
import { type Answer, send, subscribe } from '../graph/client';
import { type Problem, problemOf } from '../graph/problem';
import { addEvent, begin, change, keep, openTab } from './results';

// GraphiQL shows errors as they came; it does not use them as objects of GraphQLError.
export const fetcher = ((given: FetcherParams) => {
  if (given.operationName === 'IntrospectionQuery') return send(given);
  const operation = operationOf(given);
  // The editor notices only after a while that another operation was written.
  const params = { ...given, operationName: operation ? operation.name?.value : given.operationName };
  const name = operation?.name?.value ?? 'Answer';
  return operation?.operation === 'subscription' ? listen(params, name) : answer(params, name);
}) as Fetcher;

/** The operation that is meant: the one of that name, or the only one. */
function operationOf({ query, operationName }: FetcherParams): OperationDefinitionNode | undefined {
  try {
    const operations = parse(query, { noLocation: true }).definitions.filter((one) => one.kind === 'OperationDefinition');
    return operations.length === 1 ? operations[0] : operations.find((one) => one.name?.value === operationName);
  } catch {
    return undefined; // the server answers what is wrong with it
  }
}

async function answer(params: FetcherParams, name: string): Promise<Answer> {
  const id = openTab();
  const begun = performance.now();
  const blank = { name, events: null, problem: null };
  begin(id, { ...blank, answer: null, running: true, milliseconds: 0 });
  try {
    const answer = await send(params);
    keep(id, { ...blank, answer, running: false, milliseconds: performance.now() - begun });
    return answer;
  } catch (error) {
    const problem = problemOf(error);
    keep(id, { ...blank, answer: null, problem, running: false, milliseconds: performance.now() - begun });
    return { errors: [{ message: problem.message }] };
  }
}

interface Observer {
  next: (answer: Answer) => void;
  complete: () => void;
}

/** An observable rather than a generator: it can be stopped while it waits for an event. */
function listen(params: FetcherParams, name: string): Observable<Answer> {
  // GraphiQL always passes an object.
  return { subscribe: (observer) => ({ unsubscribe: follow(params, name, observer as Observer) }) };
}

/** Keeps and passes on the events of a subscription, until it ends or is stopped. */
function follow(params: FetcherParams, name: string, observer: Observer): () => void {
  const id = openTab();
  const end = (problem: Problem | null) => change(id, { running: false, live: false, problem });
  keep(id, { name, answer: null, events: [], problem: null, running: true, milliseconds: 0 });
  const stop = subscribe(params, {
    connected: () => change(id, { live: true }),
    next: (event) => {
      addEvent(id, event);
      observer.next(event);
    },
    error: (problem) => {
      end(problem);
      observer.next({ errors: [{ message: problem.message }] });
      observer.complete();
    },
    complete: () => {
      end(null);
      observer.complete();
    },
  });
  return () => {
    stop();
    end(null);
  };
}

import type { GraphError } from './client';

const titles: Record<string, string> = {
  UNREACHABLE: 'No connection',
  NOT_LOADED: 'Not loaded',
  NEW_RELEASE: 'A new release',
  STALE: 'Changed meanwhile',
  UNAUTHORIZED: 'Not signed in',
  INVALID_TOKEN: 'The session has ended',
  FORBIDDEN: 'No permission',
  NOT_FOUND: 'Not found',
  INVALID_PROPERTY: 'Not found',
  INVALID_PARAMETER: 'Not accepted',
  INVALID_BODY: 'Not accepted',
  BAD_USER_INPUT: 'A variable does not fit',
  GRAPHQL_PARSE_FAILED: 'The query cannot be read',
  GRAPHQL_VALIDATION_FAILED: 'The query does not fit the schema',
  OPERATION_RESOLUTION_FAILURE: 'Which operation?',
  RATE_LIMITED: 'Too fast',
  THROTTLED: 'Too fast',
  UNAVAILABLE: 'Busy right now',
  INTERNAL_ERROR: 'The server failed',
};

/** The heading under which people read an error with this code. */
export const titleOf = (code: string | undefined) => titles[code ?? ''] ?? 'Something went wrong';

/** An error in words for people. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly requestId?: string,
    /** Which part of the input is at fault, such as profile.fields[2].expression. */
    readonly field?: string,
  ) {
    super(message);
  }

  static of(error: GraphError): Problem {
    return new Problem(error.extensions?.code ?? '', error.message, error.extensions?.requestId, error.extensions?.field);
  }

  get title(): string {
    return titleOf(this.code);
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem('', error instanceof Error ? error.message : String(error));

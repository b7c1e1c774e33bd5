import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse } from 'graphql';
import { useCallback } from 'react';

export interface Opened {
  query: string;
  variables: string;
}

/** Opens a query in a tab of its own, or in the current one while that is empty. */
export function useOpen(): (opened: Opened, run?: boolean) => void {
  const { addTab, setOperationFacts, run: start } = useGraphiQLActions();
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  return useCallback(
    ({ query, variables }, run = false) => {
      if (!queryEditor || !variableEditor) return;
      const present = queryEditor.getValue();
      if (present.trim() !== '' && present !== query) addTab();
      queryEditor.setValue(query);
      variableEditor.setValue(variables);
      if (!run) return;
      // The editor reads what was typed only after a while.
      const documentAST = parse(query);
      const operations = documentAST.definitions.filter((one) => one.kind === 'OperationDefinition');
      setOperationFacts({ documentAST, operations, operationName: operations[0]?.name?.value });
      start();
    },
    [queryEditor, variableEditor, addTab, setOperationFacts, start],
  );
}

import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JSONWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

window.MonacoEnvironment = {
  getWorker(_id, label) {
    if (label === 'json') return new JSONWorker();
    if (label === 'graphql') return new GraphQLWorker();
    return new EditorWorker();
  },
};

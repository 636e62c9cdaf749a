"""An agent of LangGraph at the order desk, whose message list fits before each call of the model.

    pip install foveate langchain langchain-openai
    python examples/langgraph_agent.py

The model is the script of `order_desk.py` on loopback; with your own, leave `base_url` out. The
checkpointer keeps all messages, and the model reads those that fit.
"""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from order_desk import INSTRUCTIONS, TOKENIZER, TOOLS, scripted_model, turns

from foveate.integrations.langchain.middleware import FoveateMiddleware

BUDGET = 8_000


def main() -> None:
    """Sixty turns on one thread."""
    with scripted_model() as endpoint:
        agent = create_agent(
            ChatOpenAI(model="scripted", base_url=endpoint.url, api_key="none"),
            TOOLS,
            system_prompt=INSTRUCTIONS,
            middleware=[FoveateMiddleware(budget=BUDGET, tokenizer=TOKENIZER)],
            checkpointer=InMemorySaver(),
        )
        thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
        for turn in turns():
            done = agent.invoke({"messages": [HumanMessage(turn.question)]}, thread)
    print(done["messages"][-1].content)
    print(f"{len(done['messages'])} messages are kept")
    print(endpoint.report())


if __name__ == "__main__":
    main()

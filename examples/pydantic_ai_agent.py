"""An agent of pydantic-ai at the order desk, whose history fits before each call of the model.

    pip install foveate 'pydantic-ai-slim[openai]'
    python examples/pydantic_ai_agent.py

The model is the script of `order_desk.py` on loopback; with your own, leave the provider out. A
history processor replaces the history of its run by the shorter one, so the program adds the new
messages of each run to a history of its own, which has all of them.
"""

from __future__ import annotations

from order_desk import INSTRUCTIONS, TOKENIZER, TOOLS, scripted_model, turns
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from foveate.integrations.pydantic_ai import FoveateCompaction

BUDGET = 7_800
"""The tools, which a history processor does not see, take 200 more."""


def main() -> None:
    """Sixty runs, each with the history of those before."""
    fit = FoveateCompaction(budget=BUDGET, tokenizer=TOKENIZER)
    history: list[ModelMessage] = []
    with scripted_model() as endpoint:
        provider = OpenAIProvider(base_url=endpoint.url, api_key="none")
        agent = Agent(
            OpenAIChatModel("scripted", provider=provider),
            tools=TOOLS,
            system_prompt=INSTRUCTIONS,
            capabilities=[ProcessHistory(fit)],
        )
        for turn in turns():
            done = agent.run_sync(turn.question, message_history=history)
            history += done.new_messages()
    print(done.output)
    print(f"{len(history)} messages are kept")
    print(endpoint.report())


if __name__ == "__main__":
    main()

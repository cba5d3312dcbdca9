"""What the practice model says, in English and Persian."""

import re

PERSIAN = re.compile(r"[\u0600-\u06ff]")

EN = {
    "hello": "Hello! I am the practice model: I follow fixed rules and know very little, but you "
    "can try everything with me.",
    "who": "I am the practice model of Dabir, a program with fixed rules, not a language model. "
    "Ask me to remember something, to add a task, or what I know about you.",
    "fine": "I am fine, thank you. How are you?",
    "welcome": "You are welcome!",
    "bye": "Goodbye!",
    "today": "According to what I was told, it is {0}.",
    "no_today": "I was not told what day it is.",
    "sum": "{0} = {1}",
    "remembered": "I will remember: {0}",
    "added": "I put it on your list: {0}",
    "added_when": "I put it on your list: {0} ({1})",
    "done": "Done: {0}",
    "no_tool": "I was given no tool for that: {0}",
    "failed": "That did not work: {0}",
    "known": "What I know about you:\n{0}",
    "nothing": "I know nothing about you yet.",
    "fact": "You told me: {0}",
    "no_fact": "I do not know that: “{0}”. I am only the practice model.",
    "tasks": "Your open tasks:\n{0}",
    "no_tasks": "You have no open tasks that I know of.",
    "person": "I have asked for a person.",
    "person_command": "Send /human to talk to a person.",
    "wrote": "You wrote: “{0}”. I am the practice model and have no rule for it.",
    "several": "You sent {0} messages. One by one:",
    "long": "“{0} … {1}” ({2} characters)",
    "silent": "You sent no text that I could read.",
    "draft": "Thank you for your message {0}. ___",
    "summary": "The user wrote {0} messages, and {1} of them were answered. The newest:",
}

FA = {
    "hello": "سلام! من مدل تمرینی هستم: از قاعده‌های ثابت پیروی می‌کنم و خیلی کم می‌دانم، ولی "
    "همه چیز را می‌توانید با من امتحان کنید.",
    "who": "من مدل تمرینی دبیر هستم؛ برنامه‌ای با قاعده‌های ثابت، نه یک مدل زبانی. از من بخواهید "
    "چیزی را به خاطر بسپارم، کاری اضافه کنم، یا بپرسید درباره‌ٔ شما چه می‌دانم.",
    "fine": "خوبم، ممنون. شما چطورید؟",
    "welcome": "خواهش می‌کنم!",
    "bye": "خداحافظ!",
    "today": "طبق آنچه به من گفته‌اند، {0} است.",
    "no_today": "به من نگفته‌اند امروز چه روزی است.",
    "sum": "{0} = {1}",
    "remembered": "به خاطر می‌سپارم: {0}",
    "added": "به فهرست کارهایتان اضافه کردم: {0}",
    "added_when": "به فهرست کارهایتان اضافه کردم: {0} ({1})",
    "done": "انجام شد: {0}",
    "no_tool": "برای این کار ابزاری به من نداده‌اند: {0}",
    "failed": "نشد: {0}",
    "known": "آنچه درباره‌ٔ شما می‌دانم:\n{0}",
    "nothing": "هنوز چیزی درباره‌ٔ شما نمی‌دانم.",
    "fact": "به من گفته‌اید: {0}",
    "no_fact": "این را نمی‌دانم: «{0}». من فقط مدل تمرینی‌ام.",
    "tasks": "کارهای باز شما:\n{0}",
    "no_tasks": "تا جایی که می‌دانم کار بازی ندارید.",
    "person": "از یک نفر خواستم که بیاید.",
    "person_command": "برای گفت‌وگو با یک نفر /human را بفرستید.",
    "wrote": "نوشتید: «{0}». من مدل تمرینی‌ام و قاعده‌ای برای آن ندارم.",
    "several": "{0} پیام فرستادید. یکی‌یکی:",
    "long": "«{0} … {1}» ({2} نویسه)",
    "silent": "متنی نفرستادید که بتوانم بخوانم.",
    "draft": "از پیام شما {0} سپاسگزاریم. ___",
    "summary": "کاربر {0} پیام نوشته و به {1} تای آن پاسخ داده شده است. تازه‌ترین‌ها:",
}


def is_persian(text: str) -> bool:
    return bool(PERSIAN.search(text))


def say(about: str, name: str, *values: object) -> str:
    """The phrase `name` in the language that `about` is written in."""
    return (FA if is_persian(about) else EN)[name].format(*values)

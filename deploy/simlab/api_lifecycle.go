package simlab

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// projectRequest is the body of a new, changed or duplicated project. Other fields are read and ignored.
type projectRequest struct {
	Name      *string `json:"name"`
	ProjectID *string `json:"project_id"`
	AutoClose *bool   `json:"auto_close"`
}

// readProject reads a project's body. It answers itself when it reports false.
func (c *call) readProject(needsName bool) (projectRequest, bool) {
	var body projectRequest
	if !c.readJSON(&body) {
		return body, false
	}
	var problems []string
	if needsName && body.Name == nil {
		problems = append(problems, missing("name"))
	}
	if body.ProjectID != nil {
		problems = append(problems, badUUID(place{"body", "project_id"}, *body.ProjectID)...)
	}
	if len(problems) > 0 {
		c.invalid(problems...)
	}
	return body, len(problems) == 0
}

// createProject makes an empty, opened project. As in GNS3 it closes by itself unless the request says otherwise, and a request
// with a known id gets the project that has it.
func (c *call) createProject() {
	body, ok := c.readProject(true)
	if !ok {
		return
	}
	id := uuid.NewString()
	if body.ProjectID != nil {
		id = canonical(*body.ProjectID)
		switch known := c.lab.project(id); {
		case known == nil:
		case !c.user.may(known, "Project.Audit"):
			c.fail(http.StatusForbidden, "Permission denied (privilege Project.Audit is required)")
			return
		default:
			c.reply(http.StatusCreated, known.view())
			return
		}
	}
	if c.lab.named(*body.Name) != nil {
		c.fail(http.StatusConflict, fmt.Sprintf("Project %q already exists", *body.Name))
		return
	}
	p := c.lab.newProject(id, *body.Name, c.user.name)
	p.autoClose = body.AutoClose == nil || *body.AutoClose
	p.opened = true
	c.lab.addProject(p)
	c.lab.hub.publish(event{"project.created", p.view()})
	c.reply(http.StatusCreated, p.view())
}

func (l *Lab) named(name string) *project {
	for _, p := range l.allProjects() {
		if p.title() == name {
			return p
		}
	}
	return nil
}

// updateProject changes the name and auto_close. GNS3 lets two projects have one name here.
func (c *call) updateProject() {
	body, ok := c.readProject(false)
	if !ok {
		return
	}
	p := c.project
	before := p.view()
	p.mu.Lock()
	if body.Name != nil {
		p.name = *body.Name
	}
	if body.AutoClose != nil {
		p.autoClose = *body.AutoClose
	}
	p.mu.Unlock()
	if after := p.view(); after != before {
		c.lab.hub.publish(event{"project.updated", after})
	}
	c.reply(http.StatusOK, p.view())
}

func (c *call) deleteProject() {
	c.project.close()
	c.lab.removeProject(c.project)
	c.lab.hub.publish(event{"project.deleted", c.project.view()})
	c.done()
}

// duplicateProject copies a project with what its devices have saved. The copy is closed, and its name made unique.
func (c *call) duplicateProject() {
	body, ok := c.readProject(true)
	if !ok {
		return
	}
	if c.project.running() {
		c.fail(http.StatusConflict, "Cannot duplicate project: "+errRunning)
		return
	}
	name := *body.Name
	for i := 1; c.lab.named(name) != nil; i++ {
		name = fmt.Sprintf("%s-%d", *body.Name, i)
	}
	p := c.lab.newProject(uuid.NewString(), name, c.user.name)
	if err := p.load(c.project.save().twin(c.lab.nextNumber)); err != nil {
		c.fail(http.StatusConflict, err.Error())
		return
	}
	c.lab.addProject(p)
	c.lab.hub.publish(event{"project.created", p.view()})
	c.reply(http.StatusCreated, p.view())
}

func (c *call) getTemplate() {
	id := canonical(c.r.PathValue("template_id"))
	for _, t := range templates() {
		if t.TemplateID == id {
			c.reply(http.StatusOK, t)
			return
		}
	}
	c.fail(http.StatusNotFound, fmt.Sprintf("Template '%s' not found", id))
}
